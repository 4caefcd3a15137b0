"""Hostile and broken answers of models, as data: every chat checks that none of them works."""

from itertools import product

_TOKENS = (
    "<!channel> <!here> <!everyone> <!CHANNEL> <!here|here> <!channel|@channel> "
    "<!subteam^S012ABC> <!subteam^S012ABC|@team> <@U012ABC> <@W012ABC|bob> <#C012ABC> "
    "<#C012ABC|general> @channel @here @everyone @Channel @HERE @eVeRyOnE @\u200bchannel "
    "@ch\u200dannel @he\u00adre @every\u2060one <\u200b!channel> <!\u200dhere> ＠channel "
    "@ｃｈａｎｎｅｌ ＜!channel＞ <！here> @𝐡𝐞𝐫𝐞 &lt;!channel&gt; &#60;!here&#62; "
    "&#x3C;!everyone> @&#8203;channel "
    "\\<!channel\\> <!\ufe0fchannel> @c\u034fhannel \u202e@here\u202c @\ufeffeveryone "
    "<!date^1392734382^{date}|x> <!group> "
)
TOKENS = tuple(_TOKENS.split())
_DISCORD_TOKENS = (
    "<@123456789012345678> <@!123456789012345678> <@&123456789012345678> <#123456789012345678> "
    "</ask:1> <t:1735689600:R> <t:-1> <:smile:123456789012345678> <a:party:123456789012345678> "
    "<id:customize> <id:guide> <sound:1:2> @\u200beveryone <@\u2060123456789012345678> "
    "<\u200b@123456789012345678> <@１２３456789012345678> \\<@123456789012345678> \\@everyone "
    "&lt;@123456789012345678&gt; :smile: :+1::skin-tone-2: ||spoiler|| __underlined__ "
    "https://discord.gg/evil discord.gg/evil DISCORD.GG/evil https://discord.com/invite/evil "
    "discordapp.com/invite/evil https://discord.gift/abc discord://-/settings "
    "<discord://-/settings> <https://evil.example> [good](<https://evil.example>) "
    "[https://good.example](<https://evil.example>) [](https://evil.example) "
    "attachment://round.md <tel:+123> <sms:+123> <mailto:x@evil.example?subject=a> **a*b**c*d "
    "_a_b_c_ ~~~~~~ \\`\\`\\` ¯\\_(ツ)_/¯ 12:30:45 "
)
DISCORD_TOKENS = (
    *_DISCORD_TOKENS.split(),
    "</council ask:123456789012345678>",
    "@everyone @here",
    "-# small print",
    "-# Best-ranked: Evil Model, on 9 of 9 ballots",
    ">>> all that follows",
    "[good](https://evil.example 'title')",
    "***bold* and** more***",
    "`` ` ``",
    "```js``` after ```",
    "# C#",
    "1) one\n2) two",
    "+ plus",
    "a\n-# b\n> c\n# d",
    "\\",
    "\\\n# x",
)
CONSTRUCTS = (
    "{}",
    "Hello {} there",
    "**{}**",
    "*{}*",
    "~~{}~~",
    "`{}`",
    "```\n{}\n```",
    "    {}",
    "# {}",
    "> {}",
    "- {}",
    "1. {}",
    "| a |\n|---|\n| {} |",
    "| {} |\n|---|\n| a |",
    "[{}](https://example.com)",
    "[x](https://example.com/{})",
    "![{}](https://example.com/x.png)",
    "<b>{}</b>",
    "<div title='{}'>x</div>",
    "- [ ] {}",
    "> - `{}`",
    "<https://example.com|{}>",
    "https://example.com/{}",
    '[x](https://example.com "{}")',
    "```{} {}\nx\n```",
)
_PARTED = (
    "<!chan**nel**> <**!channel**> **<**!here> @**channel** @`here` @every*one* *@*everyone "
    "<@**U012ABC**> `<`!channel> @chan\\nel @[channel](https://x.example) "
    "[@](https://x.example)channel <!<!channel>channel> @@channel @ch~~an~~nel "
)
PARTED = (
    *_PARTED.split(),
    "<\n!here>",
)
_LINKS = (
    "<https://evil.example|https://good.example> [https://good.example](https://evil.example) "
    "[click](javascript:alert(1)) [click](JaVaScRiPt:alert(1)) [click](data:text/html,x) "
    "[click](vbscript:x) [click](file:///etc/passwd) [click](slack://open) [click](//evil) "
    "[click](/local) [](https://evil.example) [a](https://evil.example/?q=secret) "
    "![x](https://evil.example/?q=secret) ![](x) "
    "[![x](https://evil.example/1.png)](https://evil.example/2) ![x](data:image/png;base64,AAAA) "
    "https://good.example@evil.example/ https://evil.example/\u202egood https://аpple.com/ "
    "<mailto:x@example.com> <x@example.com> [pay](mailto:x@example.com) www.example.com https:// "
    "http://x [a](https://evil.example/%0a%0d) [a](https://evil.example/`x`) "
    "<script>fetch(1)</script> "
)
LINKS = (
    *_LINKS.split(),
    "[a](<https://evil.example/a b>)",
    "[a][b]\n\n[b]: https://evil.example",
    "[b]: https://evil.example 'title'",
    '<img src="https://evil.example/x.png">',
    "<a href='https://evil.example'>good</a>",
    "<iframe src=//evil>",
    "<!-- hidden -->",
    "<!DOCTYPE html>",
    "https://x.example/" + "a" * 4000,
)
FORGED = (
    '{"blocks":[{"type":"actions","elements":[{"type":"button","action_id":"council:cancel"}]}]}',
    '[{"type":"rich_text","elements":[{"type":"broadcast","range":"channel"}]}]',
    '```json\n{"type":"image","image_url":"https://evil.example/x.png","alt_text":"x"}\n```',
    "[Answers] [Ballots] [Run again]",
    "Best-ranked: Evil Model, on 9 of 9 ballots",
    ":alert: :sos:",
    "{{user}} ${text} %s {0} {text}",
    "*bold* _it_ ~no~ `code`",
    "&amp;amp;lt;",
    "&nbsp;&zwj;&shy;",
    "null",
    "\\",
    "\\\\\\",
    "</rich_text>",
    "\u2028\u2029",
    "\x1b[31mred\x07\x08",
    "a\rb\r\nc",
    "\ufffe",
    "&#0;&#xD800;&#x10FFFF;",
    "=== \n---\n***",
    "|",
    "||||",
    "|-|",
    "[ ]",
    "()",
    "<>",
    "``",
    "* * *",
)
HUGE = (
    "word " * 20_000,
    "x" * 50_000,
    "```\n" + "code line\n" * 5_000 + "```",
    "```py\n" + "y" * 20_000,
    "> " * 200 + "deep",
    "- " * 200 + "deep",
    "\n".join("  " * n + f"- n{n}" for n in range(200)),
    "1. " * 200 + "deep",
    "*" * 5_000,
    "_" * 5_000,
    "[" * 5_000,
    "![" * 3_000,
    "`" * 5_000,
    "<" * 5_000,
    "&" * 5_000,
    "@" * 5_000,
    "@channel " * 2_000,
    "<!here>" * 2_000,
    "\n" * 5_000,
    "#" * 5_000,
    "# h\n\n" * 500,
    "a\u0301" * 5_000,
    "e" + "\u0301" * 3_000,
    "👩‍👩‍👧‍👦" * 2_000,
    "مرحبا بالعالم " * 1_000,
    "汉字" * 10_000,
    "|a" * 100 + "|\n" + "|-" * 100 + "|\n" + "|b" * 100,
    "|a|b|\n|-|-|\n" + "|c|d|\n" * 500,
    "|a|\n|-|\n|" + "z" * 20_000 + "|",
    "~~~" + "q" * 20_000,
    "- item\n" * 1_500,
    "---\n" * 1_000,
    "[a](https://x.example) " * 500,
    "|a|b|\n|-|-|\n\n" * 60,
    "> quoted\n" * 2_000,
    "https://x.example/" + "p" * 20_000,
    "999999999. a\n" * 50,
)

ANSWERS = (
    *dict.fromkeys(
        frame.format(token, token)
        for frame, token in product(CONSTRUCTS, (*TOKENS, *DISCORD_TOKENS))
    ),
    *PARTED,
    *LINKS,
    *FORGED,
    *HUGE,
)
