package show

import (
	"html"

	"github.com/gocute/gocute/internal/text"
)

// escape makes a text harmless in SVG and HTML. XML allows no control characters, escaped or not, so they are made visible.
func escape(s string) string { return html.EscapeString(text.Visible(s)) }
