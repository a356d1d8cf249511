package show

import (
	"fmt"
	"strings"
)

// Page puts pictures on one HTML page, which needs no other file.
func Page(title string, pictures ...*Picture) []byte {
	l, d := light(), dark()
	var b strings.Builder
	fmt.Fprintf(&b, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%s</title>
<style>
body{margin:24px;font:16px system-ui,sans-serif;background:%s;color:%s}
figure{margin:0 0 32px;overflow-x:auto}
@media (prefers-color-scheme:dark){body{background:%s;color:%s}}
%s</style>
</head>
<body>
<h1>%s</h1>
`, escape(title), l.ground, l.text, d.ground, d.text, styleSheet(), escape(title))
	for i, p := range pictures {
		fmt.Fprintf(&b, "<figure id=\"p%d\">\n%s</figure>\n", i+1, strings.ReplaceAll(p.svg(""), `<g id="`, fmt.Sprintf(`<g id="p%d-`, i+1)))
	}
	b.WriteString("</body>\n</html>\n")
	return []byte(b.String())
}
