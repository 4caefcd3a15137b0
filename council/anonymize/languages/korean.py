"""Korean."""

from council.anonymize.languages.language import OPENING, Language
from council.anonymize.names import ANY, MAKER, MODEL

_I = "(?:저는|나는|전|난)"
_NOUN = "(?:모델|시스템|어시스턴트|ai|인공지능|비서|챗봇)"
_MADE = "(?:개발|훈련|만들|만든|학습|설계|제작|공개|출시)"

KOREAN = Language(
    name="Korean",
    cues=frozenset("다요는이"),
    signs=(
        rf"{_I} [^.\n]{{0,40}}?{MODEL} ?(?:입니다|일 뿐|이며|이고|예요|이에요|이라|라고 합|라서"
        rf"|라는|인데)",
        rf"안녕하세요[,.!]? {MODEL} ?입니다|{MODEL} ?인 (?:저|제)",
        rf"당신의 (?:비서|어시스턴트|도우미) {MODEL}",
        rf"{OPENING}{MAKER} ?(?:이|가|에서)[^.\n]{{0,10}}{_MADE}[^.\n]{{0,20}}{_NOUN}이(?:라|므로)",
        rf"제 이름은 {MODEL}|(?:저|나)를 {MODEL} ?이?라고",
        rf"{OPENING}저,? {MODEL} ?(?:는|은|,)",
        rf"{MODEL} ?(?:과|와) (?:대화|이야기)하고 (?:계|있)",
        rf"{OPENING}{MODEL} ?으?로서[ ,]",
        rf"{MAKER} ?(?:이|가|에서|의)? ?[^.\n]{{0,25}}{_NOUN}으?로서\b",
        rf"{_I} (?:\w{{1,8}} )?{MAKER} ?(?:에 의해|에서|가|이)[^.\n]{{0,12}}{_MADE}",
        rf"(?:저|나)를 {_MADE}[한]?(?: 곳은| 것은| 회사인)? ?{MAKER}",
        rf"{MAKER} ?(?:이|가|은|는|에서)? ?저를[^.\n]{{0,30}}{_MADE}",
        rf"제 (?:개발사|개발자|제작자|창조자|제작사)(?:는|인|,)? ?{MAKER}",
        rf"{MAKER} ?의 {_NOUN}인 저",
        rf"이 (?:답변|글|응답|대답)은 {ANY} ?(?:가|이|에 의해|로|에서)",
    ),
    fields="모델|작성자|답변자",
    closings="감사합니다|안녕히 계세요|고맙습니다|드림",
    owned="의 (?:답변|대답|응답)",
)
