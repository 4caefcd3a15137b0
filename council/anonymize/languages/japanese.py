"""Japanese, written without spaces between words."""

from council.anonymize.languages.language import OPENING, Language
from council.anonymize.names import ANY, MAKER, MODEL

_I = "(?:私|わたし|わたくし|僕|自分)"
_NOUN = "(?:モデル|システム|aiシステム|アシスタント|ai|人工知能|チャットボット)"
_MADE = "(?:開発|訓練|作成|作ら|作っ|設計|学習|生み出|公開|発表|リリース)"

JAPANESE = Language(
    name="Japanese",
    cues=frozenset("はがので"),
    signs=(
        rf"{_I}は、? ?[^。、\n]{{0,30}}?{MODEL} ?(?:です|、{MAKER}の|だ|なので|である|で、|で、"
        rf"|という|と申"
        rf"|といい)",
        rf"{OPENING}{MAKER} ?が{_MADE}した{MODEL}です",
        rf"(?:こんにちは|はじめまして|どうも)、 ?{MODEL}です",
        rf"{MODEL} ?である{_I}|あなたの{_NOUN}の{MODEL}",
        rf"{OPENING}{MAKER} ?(?:に|によって|が)[^。\n]{{0,10}}{_MADE}[^。\n]{{0,20}}{_NOUN}なので",
        rf"{_I}の名前は ?{MODEL}|{MODEL} ?と(?:申します|いいます|呼んで)",
        rf"{_I}、? ?{MODEL} ?[はも]",
        rf"お話し(?:している|中の)のは ?(?:{MAKER}の)? ?{MODEL}",
        rf"{OPENING}{MODEL} ?としては?、",
        rf"{MAKER} ?(?:が|の|によって|によって|に)[^。\n]{{0,25}}{_NOUN}として、",
        rf"{_I}は[^。、\n]{{0,10}}{MAKER} ?(?:によって|に|で|から)[^。\n]{{0,10}}{_MADE}",
        rf"{_I}は ?{MAKER} ?(?:が|の|で)[^。\n]{{0,15}}{_MADE}[^。\n]{{0,12}}{_NOUN}",
        rf"{MAKER} ?[がは]{_I}を|{_I}を{_MADE}し?たのは ?{MAKER}",
        rf"{_I}の(?:開発者|作り手|開発元|製作者|制作者|創造者)(?:である|は|、|の)? ?{MAKER}",
        rf"{MAKER} ?の{_NOUN}(?:である|の){_I}",
        rf"(?:この|本)(?:回答|答え|返答|文章)は ?{ANY} ?(?:によって|によって|が|で|に)",
    ),
    fields="モデル|作者|回答者",
    closings="敬具|草々|かしこ|よろしくお願い(?:いた)?します|以上",
    owned="の(?:回答|答え|返答)",
)
