"""Table of model families: how to recognize them in a model id, their names and makers."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """A pattern for the model ids of a family, the names its models go by, and of its maker."""

    name: str
    ids: str
    names: tuple[str, ...]
    makers: tuple[str, ...]


_GOOGLE = ("谷歌", "グーグル", "구글", "Гугл", "جوجل", "غوغل", "गूगल")

# Distilled models come first: "deepseek-r1-distill-qwen" behaves like its base model.
FAMILIES = (
    Family(
        "qwen",
        r"distill-qwen|qwen|qwq|qvq|tongyi",
        ("Qwen", "QwQ", "Tongyi Qianwen", "通义千问", "千问"),
        ("Alibaba Cloud", "Alibaba", "阿里云", "阿里巴巴", "アリババ", "알리바바"),
    ),
    Family(
        "meta",
        r"distill-llama|llama(?!.*nemotron)|maverick|scout",
        ("Llama", "LLaMA", "Meta AI"),
        ("Meta AI", "Meta"),
    ),
    Family(
        "anthropic",
        r"claude",
        ("Claude", "克劳德", "クロード", "클로드", "Клод", "كلود", "क्लॉड"),
        ("Anthropic", "アンソロピック", "앤트로픽", "앤스로픽", "أنثروبيك", "एंथ्रोपिक"),
    ),
    Family(
        "openai",
        r"gpt|chatgpt|codex|davinci|^o[1-9](?:-|$)",
        ("ChatGPT", "Chat GPT", "GPT", "チャットGPT", "챗GPT", "챗지피티", "ЧатГПТ", "चैटजीपीटी"),
        ("OpenAI", "Open AI", "오픈AI", "오픈에이아이", "ओपनएआई"),
    ),
    Family(
        "google",
        r"gemini|gemma|\bpalm\b|palm-?2|bard|learnlm",
        ("Gemini", "Gemma", "Bard", "ジェミニ", "제미나이", "Джемини", "جيميناي", "जेमिनी"),
        ("Google DeepMind", "DeepMind", "Google", *_GOOGLE),
    ),
    Family(
        "mistral",
        r"mistral|mixtral|codestral|magistral|devstral|ministral|pixtral|voxtral",
        (
            "Mistral",
            "Mixtral",
            "Codestral",
            "Magistral",
            "Devstral",
            "Ministral",
            "Pixtral",
            "Le Chat",
            "ミストラル",
            "미스트랄",
        ),
        ("Mistral AI",),
    ),
    Family("deepseek", r"deepseek", ("DeepSeek",), ("DeepSeek", "深度求索", "딥시크")),
    Family("xai", r"grok", ("Grok", "グロック", "그록"), ("xAI",)),
    Family(
        "cohere", r"command|c4ai|aya", ("Command R+", "Command R", "Command A", "Aya"), ("Cohere",)
    ),
    Family("nvidia", r"nemotron|nemo\b", ("Nemotron",), ("NVIDIA",)),
    Family(
        "microsoft",
        r"phi-?\d|phi\b|wizardlm|orca",
        ("Phi", "Copilot", "Bing Chat", "WizardLM"),
        ("Microsoft", "微软", "マイクロソフト", "마이크로소프트", "مايكروسوفت", "माइक्रोसॉफ्ट"),
    ),
    Family(
        "huggingface",
        r"smollm|zephyr|starcoder",
        ("SmolLM", "Zephyr", "StarCoder"),
        ("Hugging Face", "HuggingFace"),
    ),
    Family("amazon", r"nova|titan", ("Amazon Nova", "Amazon Titan"), ("Amazon", "AWS", "亚马逊")),
    Family("moonshot", r"kimi|moonshot", ("Kimi",), ("Moonshot AI", "Moonshot", "月之暗面")),
    Family("zhipu", r"glm", ("ChatGLM", "GLM"), ("Zhipu AI", "Zhipu", "Z.ai", "智谱")),
    Family("minimax", r"minimax|abab", ("MiniMax",), ("MiniMax",)),
    Family("01-ai", r"\byi-", ("Yi",), ("01.AI",)),
    Family("ai21", r"jamba|jurassic|\bj2", ("Jamba", "Jurassic"), ("AI21 Labs", "AI21")),
    Family("ibm", r"granite", ("Granite",), ("IBM",)),
    Family(
        "allenai", r"olmo|tulu|molmo", ("OLMo", "Tulu"), ("Allen Institute for AI", "Ai2", "AI2")
    ),
    Family("tii", r"falcon", ("Falcon",), ("Technology Innovation Institute", "TII")),
    Family("databricks", r"dbrx|dolly", ("DBRX", "Dolly"), ("Databricks",)),
    Family(
        "baidu",
        r"ernie",
        ("ERNIE Bot", "ERNIE", "Wenxin Yiyan", "文心一言"),
        ("Baidu", "百度"),
    ),
    Family("bytedance", r"doubao|\bseed-", ("Doubao", "豆包"), ("ByteDance", "字节跳动")),
    Family("tencent", r"hunyuan", ("Hunyuan", "混元"), ("Tencent", "腾讯")),
    Family("upstage", r"solar", ("Solar",), ("Upstage",)),
    Family("perplexity", r"sonar|pplx", ("Sonar", "Perplexity"), ("Perplexity AI", "Perplexity")),
    Family("reka", r"reka", ("Reka",), ("Reka AI",)),
    Family("liquid", r"lfm", ("LFM",), ("Liquid AI",)),
    Family("inflection", r"inflection", ("Inflection", "Pi"), ("Inflection AI",)),
    Family("stability", r"stablelm|stable-", ("StableLM",), ("Stability AI",)),
    Family("writer", r"palmyra", ("Palmyra",), ("Writer",)),
    Family("xiaomi", r"mimo", ("MiMo",), ("Xiaomi",)),
    Family("vicuna", r"vicuna", ("Vicuna",), ("LMSYS",)),
)


def family_of(model: str) -> str:
    """Return the family of a model id; "unknown:PROVIDER" if no family matches."""
    *route, name = model.lower().split("/")
    for family in FAMILIES:
        if re.search(family.ids, name):
            return family.name
    return f"unknown:{route[0] if route else name}"
