"""Chinese, written without spaces between words."""

from council.anonymize.languages.language import OPENING, Language
from council.anonymize.names import ANY, MAKER, MODEL

_KIND = (
    r"(?:一个|一款|一名|你的|您的|名叫|名为|叫做|叫|大型|语言|模型|人工智能|助手|助理|ai|，| ){0,6}"
)
_NOUN = r"(?:模型|系统|助手|助理|人工智能|ai|机器人)"
_MADE = r"(?:开发|训练|研发|推出|创建|创造|打造|设计|制作)"

CHINESE = Language(
    name="Chinese",
    cues=frozenset("我作身本您你这"),
    signs=(
        rf"我(?:就|只)?(?:是|叫|名叫|叫做) ?{_KIND}{MODEL}(?! ?(?:的(?!{_NOUN})|用户))",
        rf"我是[^。，\n]{{0,12}}{MAKER} ?{_MADE}的",
        rf"我是 ?{MAKER} ?的?{_KIND}{MODEL}",
        rf"我是?(?:一个|一款|于[^，。\n]{{1,6}})?由 ?{MAKER}",
        rf"我的(?:名字|名称)(?:是|叫) ?{MODEL}|(?:叫我|称我为|称呼我为) ?{MODEL}",
        rf"我[，,] ?{MODEL}[，,]",
        rf"[您你](?:正在|现在)?[与和跟] ?(?:{MAKER} ?的)? ?{MODEL} ?(?:对话|聊天|交谈)",
        rf"{OPENING}(?:作为|身为) ?{_KIND}{MODEL} ?(?:[，,] ?(?!{ANY})|我)",
        rf"(?:作为|身为) ?(?:一个|一款|一名)?由? ?{MAKER} ?[^。，\n]{{0,14}}{_NOUN}"
        rf"(?:[，,] ?(?!{ANY})|我)",
        rf"这里是 ?{MODEL}|我 ?{MODEL} ?的角度|[您你]的(?:ai)?(?:助手|助理) ?{MODEL}",
        rf"{MAKER} ?把我",
        rf"{MAKER}[^。，\n]{{0,6}}{_MADE}了我",
        rf"我的(?:开发者|创造者|制造商|开发商|开发公司|母公司|开发团队)(?:是|来自|，)? ?{MAKER}",
        rf"(?:本|这个|这篇|该|此)(?:回答|答案|回复)是?(?:由|来自) ?{ANY}",
    ),
    fields="模型|作者|回答者",
    closings="此致|祝好|敬上|谢谢|此致敬礼",
    owned="的(?:回答|答案|回复)|回答",
)
