package report

import (
	"strings"
	xml "text/template"
	"unicode"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
)

// share writes a part of a whole in percent.
func share(part, whole int64) string {
	if whole == 0 {
		return ""
	}
	return figures.Percent(float64(part) / float64(whole))
}

// plural writes a number of things.
func plural(n int, thing string) string { return figures.Count(n, thing) }

// clipped cuts a text to a number of characters, the last of which is then "…".
func clipped(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// plain is a text for XML: escaped, and printable.
func plain(text string) string { return xml.HTMLEscapeString(printable(text)) }

// printable is a text on one line, with a dot for each character that is not printable.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '·'
		}
		return r
	}, text)
}
