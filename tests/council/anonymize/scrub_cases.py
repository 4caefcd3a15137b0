"""Answers that say who wrote them, and answers that only speak about such names.

Knows no scrubber: the tables say what is right, not how to find out.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Signed:
    """An answer that gives its author away; no name may survive, in whatever case."""

    id: str
    text: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ordinary:
    """An answer that names models, makers or their namesakes, and must stay as it is."""

    id: str
    text: str


BODY = "Use a jobs table read with SKIP LOCKED; it carries that load on one node."
CODE = '```python\nclient.chat.completions.create(model="{}", messages=messages)\n```'

SPOKEN = (
    Signed("as-claude", f"As Claude, I would start small. {BODY}", ("Claude",)),
    Signed("as-gemini", f"As Gemini, I think that Postgres will do. {BODY}", ("Gemini",)),
    Signed("i-am-gemini", f"I'm Gemini, made by Google. {BODY}", ("Gemini", "Google")),
    Signed(
        "i-am-chatgpt",
        f"I am ChatGPT, a large language model trained by OpenAI. {BODY}",
        ("ChatGPT", "OpenAI"),
    ),
    Signed("i-am-curly", f"I’m Claude, an AI assistant. {BODY}", ("Claude",)),
    Signed("as-an-ai-by", f"As an AI developed by Anthropic, I weigh both. {BODY}", ("Anthropic",)),
    Signed(
        "as-an-ai-model-from",
        f"As an AI language model from OpenAI, I cannot test this. {BODY}",
        ("OpenAI",),
    ),
    Signed(
        "as-a-model-trained-by",
        f"As a large language model trained by Google, I have no opinion. {BODY}",
        ("Google",),
    ),
    Signed(
        "my-name-is",
        f"My name is Qwen and I was created by Alibaba Cloud. {BODY}",
        ("Qwen", "Alibaba"),
    ),
    Signed("my-name-is-version", f"My name is Claude Sonnet 4.6. {BODY}", ("Claude", "Sonnet")),
    Signed("speaking-as", f"Speaking as Grok from xAI, I say this: {BODY}", ("Grok", "xAI")),
    Signed("speaking-as-late", f"{BODY} That is my view, speaking as DeepSeek.", ("DeepSeek",)),
    Signed("this-is", f"This is Claude from Anthropic. {BODY}", ("Claude", "Anthropic")),
    Signed("hi-i-am", f"Hi, I'm Copilot by Microsoft! {BODY}", ("Copilot", "Microsoft")),
    Signed("hello-i-am", f"Hello! I am Mistral Large, by Mistral AI. {BODY}", ("Mistral",)),
    Signed("i-comma-claude", f"I, Claude, recommend Postgres. {BODY}", ("Claude",)),
    Signed("we-at", f"Here at OpenAI, we trained me to be careful. {BODY}", ("OpenAI",)),
    Signed("i-was-trained-by", f"{BODY} I was trained by DeepSeek.", ("DeepSeek",)),
    Signed("i-was-made-by", f"{BODY} (I was made by Anthropic, by the way.)", ("Anthropic",)),
    Signed("i-am-built-by", f"I'm an assistant built by Cohere. {BODY}", ("Cohere",)),
    Signed(
        "i-am-a-model-by",
        f"I'm a language model developed by Moonshot AI, called Kimi. {BODY}",
        ("Moonshot", "Kimi"),
    ),
    Signed("my-creators", f"My creators at Anthropic would agree. {BODY}", ("Anthropic",)),
    Signed("my-maker", f"{BODY} My maker, Google DeepMind, says so too.", ("Google", "DeepMind")),
    Signed("in-the-middle", "Postgres, which I, as Claude, know well, will do.", ("Claude",)),
    Signed("in-a-clause", f"Since I'm ChatGPT, I can't browse. {BODY}", ("ChatGPT",)),
    Signed("as-version", f"As GPT-5.1, I have seen both. {BODY}", ("GPT-5.1",)),
    Signed("as-long-version", f"As Gemini 3 Pro, I prefer queues. {BODY}", ("Gemini",)),
    Signed("i-am-version", f"I am DeepSeek-V3.2, and my answer is yes. {BODY}", ("DeepSeek",)),
    Signed("i-am-llama", f"I am Llama 3.3, built by Meta. {BODY}", ("Llama", "Meta")),
    Signed("i-am-phi", f"I'm Phi-4, a small model from Microsoft. {BODY}", ("Phi-4", "Microsoft")),
    Signed("i-am-command", f"I am Command R+, by Cohere. {BODY}", ("Command R", "Cohere")),
    Signed("i-am-nova", f"I am Amazon Nova Pro. {BODY}", ("Nova", "Amazon")),
    Signed("lower-as", f"as claude, i would start small. {BODY}", ("Claude",)),
    Signed("lower-i-am", f"i'm gemini, made by google. {BODY}", ("Gemini", "Google")),
    Signed("upper-i-am", f"I AM CHATGPT, BY OPENAI. {BODY}", ("ChatGPT", "OpenAI")),
    Signed("bold-i-am", f"I'm **Claude**. {BODY}", ("Claude",)),
    Signed("italic-as", f"As *Gemini*, I would wait. {BODY}", ("Gemini",)),
    Signed("backticked-i-am", f"I am `gpt-5.1`. {BODY}", ("gpt-5.1",)),
    Signed("quoted-name", f'My name is "Claude". {BODY}', ("Claude",)),
    Signed("hungarian", f"Claude vagyok, az Anthropic modellje. {BODY}", ("Claude", "Anthropic")),
    Signed("german", f"Ich bin ChatGPT, entwickelt von OpenAI. {BODY}", ("ChatGPT", "OpenAI")),
    Signed("french", f"Je suis Claude, créé par Anthropic. {BODY}", ("Claude", "Anthropic")),
    Signed("spanish", f"Soy Gemini, un modelo de Google. {BODY}", ("Gemini", "Google")),
    Signed("chinese", f"我是通义千问 Qwen，由阿里云开发。{BODY}", ("Qwen", "通义千问")),
)

WRITTEN = (
    Signed("dash", f"{BODY}\n\n— Claude", ("Claude",)),
    Signed("two-hyphens", f"{BODY}\n\n-- Claude Opus 4.5", ("Claude", "Opus")),
    Signed("hyphen", f"{BODY}\n\n- ChatGPT", ("ChatGPT",)),
    Signed("tilde", f"{BODY}\n\n~ DeepSeek", ("DeepSeek",)),
    Signed("dash-maker", f"{BODY}\n\n— GPT-5.1 by OpenAI", ("GPT", "OpenAI")),
    Signed("dash-maker-comma", f"{BODY}\n\n— Claude, Anthropic", ("Claude", "Anthropic")),
    Signed("dash-maker-brackets", f"{BODY}\n\n-- Gemini 3 Pro (Google)", ("Gemini", "Google")),
    Signed("regards-maker", f"{BODY}\n\nBest regards,\nGrok from xAI", ("Grok", "xAI")),
    Signed("last-line-maker", f"{BODY}\n\nClaude by Anthropic", ("Claude", "Anthropic")),
    Signed("dash-italic", f"{BODY}\n\n*— Gemini 3 Pro*", ("Gemini",)),
    Signed("dash-bold", f"{BODY}\n\n— **Grok 4**", ("Grok",)),
    Signed("best-regards", f"{BODY}\n\nBest regards,\nGPT-5.1", ("GPT-5.1",)),
    Signed("cheers", f"{BODY}\n\nCheers,\nClaude", ("Claude",)),
    Signed("yours", f"{BODY}\n\nYours sincerely,\nMistral Large", ("Mistral",)),
    Signed("signed", f"{BODY}\n\nSigned, Claude Haiku", ("Claude", "Haiku")),
    Signed("signed-colon", f"{BODY}\n\nSigned: Qwen3-Max", ("Qwen",)),
    Signed("written-by", f"{BODY}\n\nThis answer was written by Mistral Large.", ("Mistral",)),
    Signed("generated-by", f"{BODY}\n\n_Generated by GPT-5.1_", ("GPT-5.1",)),
    Signed("answered-by", f"Answered by: claude-opus-4-5\n\n{BODY}", ("claude", "opus")),
    Signed("powered-by", f"{BODY}\n\nPowered by Gemini", ("Gemini",)),
    Signed("model-line", f"Model: gpt-5.1\n\n{BODY}", ("gpt-5.1",)),
    Signed("model-line-bold", f"**Model:** deepseek-chat\n\n{BODY}", ("deepseek",)),
    Signed("author-line", f"Author: Claude Sonnet 4.6\n\n{BODY}", ("Claude", "Sonnet")),
    Signed("bracketed-id", f"[openai/gpt-5.1] {BODY}", ("openai", "gpt-5.1")),
    Signed("bracketed-id-below", f"{BODY}\n\n[anthropic/claude-opus-4-5]", ("anthropic", "claude")),
    Signed("parenthesised-id", f"{BODY}\n(gemini/gemini-3-pro)", ("gemini",)),
    Signed("id-and-colon", f"claude-sonnet-4-6: {BODY}", ("claude", "sonnet")),
    Signed("name-and-colon", f"ChatGPT: {BODY}", ("ChatGPT",)),
    Signed("bold-name-and-colon", f"**Claude:** {BODY}", ("Claude",)),
    Signed("bold-heading", f"**Llama 3.3 70B**\n\n{BODY}", ("Llama",)),
    Signed("hash-heading", f"# Gemini 3 Pro\n\n{BODY}", ("Gemini",)),
    Signed("answer-heading", f"## Claude's answer\n\n{BODY}", ("Claude",)),
    Signed("response-from", f"### Response from GPT-5.1\n\n{BODY}", ("GPT-5.1",)),
    Signed("last-line-alone", f"{BODY}\n\nmistral-large-2512", ("mistral",)),
    Signed("top-and-bottom", f"I'm Claude.\n\n{BODY}\n\n— Claude", ("Claude",)),
    Signed("after-code", f"{CODE.format('name')}\n\n— ChatGPT", ("ChatGPT",)),
    Signed("carriage-returns", f"{BODY}\r\n\r\n— Claude\r\n", ("Claude",)),
)

SIGNED = (*SPOKEN, *WRITTEN)

NAMESAKES = (
    Ordinary("shannon", "As Claude Shannon showed in 1948, entropy bounds every code."),
    Ordinary("shannon-cited", "The enemy knows the system.\n\n— Claude Shannon"),
    Ordinary("monet", "Claude Monet painted the Rouen Cathedral more than thirty times."),
    Ordinary("debussy", "Play Claude Debussy's Clair de lune slowly."),
    Ordinary("levi-strauss", "— Claude Lévi-Strauss, Tristes Tropiques, 1955"),
    Ordinary("claude-glass", "A Claude glass is a small dark mirror that painters used."),
    Ordinary("gemini-stars", "Gemini is best seen in January; Castor and Pollux mark the twins."),
    Ordinary("gemini-list", "Winter constellations:\n\n- Orion\n- Gemini\n- Taurus"),
    Ordinary("gemini-sign", "Someone born on 1 June would say: I'm a Gemini."),
    Ordinary("gemini-programme", "Project Gemini flew ten crews; Gemini 8 docked first."),
    Ordinary("gemini-protocol", "The Gemini protocol serves plain pages over TLS on port 1965."),
    Ordinary("llama", "The llama is a domesticated camelid that carries loads in the Andes."),
    Ordinary("llama-heading", "## Llama\n\nIts wool is coarse; the alpaca's is finer."),
    Ordinary("llama-herd", "As llamas live in herds, never keep one alone."),
    Ordinary("mistral-wind", "The mistral blows down the Rhône valley, cold and dry."),
    Ordinary("mistral-capital", "Mistral is a wind; Tramontane is another."),
    Ordinary("mistral-poet", "Gabriela Mistral won the Nobel Prize in 1945."),
    Ordinary("falcon", "The peregrine falcon dives at over 300 km/h."),
    Ordinary("falcon-rocket", "Falcon 9 lands its first stage on a ship."),
    Ordinary("command-line", "Open the command line and type `make run`."),
    Ordinary("command-pattern", "The Command pattern turns a request into an object."),
    Ordinary("amazon", "The Amazon carries more water than the next seven rivers together."),
    Ordinary("nova", "A nova brightens when a white dwarf burns what it took from its neighbour."),
    Ordinary("nova-elsewhere", "Bossa nova came from Rio; Nova Scotia did not."),
    Ordinary("phi", "Phi, the golden ratio, is (1 + √5) / 2."),
    Ordinary("phi-small", "Let phi be Euler's totient; phi(9) = 6."),
    Ordinary("alibaba", "Ali Baba and the forty thieves is not in the oldest manuscripts."),
    Ordinary("alibaba-one-word", "Alibaba overheard the forty thieves say: open, sesame."),
    Ordinary("meta-analysis", "A meta-analysis pools effect sizes. Meta-analysis needs a funnel."),
    Ordinary("meta-tag", "Set the description in a meta tag, as the page's own meta data."),
    Ordinary("grok", "To grok something is to understand it fully; Heinlein coined the word."),
    Ordinary("grok-pattern", "Logstash's grok filter parses such lines."),
    Ordinary("copilot", "The copilot reads the checklist aloud."),
    Ordinary("haiku", "A haiku has seventeen syllables; a sonnet has fourteen lines."),
    Ordinary("opus", "His Opus 27 holds two sonatas. As an opus it is short."),
    Ordinary("opus-codec", "Opus is an audio codec; use `-c:a libopus`."),
    Ordinary("perplexity", "Perplexity is the exponential of the cross-entropy."),
    Ordinary("gemma", "Gemma Arterton played in that film."),
    Ordinary("cohere", "The paragraphs must cohere, or the reader is lost."),
    Ordinary("aya", "An aya is a verse of the Quran."),
    Ordinary("titan", "Titan, the moon of Saturn, has lakes of methane."),
    Ordinary("orca", "An orca is a dolphin, and I am an admirer of it."),
    Ordinary("google-it", "If you are unsure, google it."),
)

SPOKEN_OF = (
    Ordinary("bert", "Google's BERT was pre-trained on masked words."),
    Ordinary("anthropic-paper", "As Anthropic's paper says, features are superposed."),
    Ordinary("openai-paper", "As OpenAI reported in 2020, loss falls as a power law."),
    Ordinary("openai-api", "Use the OpenAI API with gpt-4o-mini; it costs the least of the three."),
    Ordinary("openai-client", "Install the OpenAI client, then set OPENAI_API_KEY."),
    Ordinary("whisper", "Whisper was trained by OpenAI on 680,000 hours of speech."),
    Ordinary("react", "React was developed by Meta and is used far beyond it."),
    Ordinary("pixel", "The Pixel is a phone made by Google."),
    Ordinary("vs-code", "VS Code is an editor built by Microsoft; I am fond of it."),
    Ordinary("qwen-spoken-of", "Qwen was created by Alibaba Cloud; its 0.5B runs on a laptop."),
    Ordinary("turing-test", "Whether ChatGPT passes a Turing test depends on the judge."),
    Ordinary("as-gpt-4-showed", "As GPT-4 showed, scale alone goes far."),
    Ordinary("compared", "Claude tends to refuse more often than GPT-4o in that study (n = 300)."),
    Ordinary("compared-in-a-list", "- GPT-4o: 128k tokens\n- Claude 3.5 Sonnet: 200k tokens"),
    Ordinary("compared-in-a-table", "| model | price |\n|---|---|\n| gpt-4o-mini | 0.15 |"),
    Ordinary("recommended", "I would try Llama 3.1 8B first, then Mistral 7B if it is too slow."),
    Ordinary("fine-tuned", "Fine-tune Llama 2 with LoRA; rank 8 is enough."),
    Ordinary("served", "Run `ollama pull llama3.2`, then `ollama run llama3.2`."),
    Ordinary("history", "In 2022 OpenAI opened ChatGPT to everyone; Google answered with Bard."),
    Ordinary("company", "Microsoft put money into OpenAI, Amazon and Google into Anthropic."),
    Ordinary("deepmind", "DeepMind's AlphaFold predicts how a protein folds."),
    Ordinary("gemini-app", "In the Gemini app, choose Settings, then Extensions."),
    Ordinary("copilot-setting", "Turn GitHub Copilot off in that folder."),
    Ordinary("quoted-law", "The complaint names OpenAI and Microsoft as defendants."),
    Ordinary("code-openai", f"Call it so:\n\n{CODE.format('gpt-4o')}"),
    Ordinary("code-claude", f"Or so:\n\n{CODE.format('claude-sonnet-4-6')}"),
    Ordinary("code-yaml", "Put this in the file:\n\n```yaml\nmodel: gpt-4o\nprovider: openai\n```"),
    Ordinary("code-inline", "Set `model=claude-3-haiku` in the request body."),
    Ordinary("code-toml", 'As in:\n\n```toml\nmembers = ["openai/gpt-5.1", "ollama/qwen3"]\n```'),
    Ordinary("code-import", "```python\nfrom anthropic import Anthropic\n```"),
    Ordinary("code-host", "```\nhttps://api.mistral.ai/v1/models\n```"),
)

PLAIN = (
    Ordinary("plain", BODY),
    Ordinary("empty", ""),
    Ordinary("an-ai", "As an AI, I cannot visit the place, but the map is clear."),
    Ordinary("i-am-sure", "I'm sure of the first point, less of the second."),
    Ordinary("as-a-rule", "As a rule, index the column you filter by."),
    Ordinary("best-regards-nobody", "End the letter so:\n\nBest regards,\n[your name]"),
    Ordinary("dash-list", "Three things:\n\n- speed\n- safety\n- price"),
)

ORDINARY = (*NAMESAKES, *SPOKEN_OF, *PLAIN)
