import json
import os
import subprocess
from pathlib import Path

TASK = """\
task: queues
dataset_path: json
dataset_kwargs:
  data_files:
    test: questions.jsonl
test_split: test
output_type: generate_until
doc_to_text: question
doc_to_target: answer
generation_kwargs:
  until: ["</s>"]
metric_list:
  - metric: exact_match
"""


def chat() -> str:
    Path("queues.yaml").write_text(TASK, encoding="utf-8")
    row = {"question": "Which queue should we use?", "answer": "Postgres"}
    Path("questions.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    address = f"{os.environ['OPENAI_BASE_URL']}/chat/completions"
    command = ["lm_eval", "run", "--model", "local-chat-completions", "--model_args",
               f"model=council,base_url={address}", "--tasks", "queues", "--include_path", ".",
               "--apply_chat_template", "--system_instruction", 'Mention "quokka".',
               "--output_path", "out", "--log_samples"]  # fmt: skip
    subprocess.run(command, capture_output=True, text=True, check=True)
    [samples] = Path("out").rglob("samples_*.jsonl")
    return json.loads(samples.read_text(encoding="utf-8").splitlines()[0])["resps"][0][0]
