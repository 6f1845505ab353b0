package schedulingtest

import (
	"fmt"
	"strings"
)

// word is one word of a line: a key, or a key and a value.
type word struct {
	key, value string
	hasValue   bool
}

func (w word) String() string {
	if !w.hasValue {
		return w.key
	}
	return w.key + "=" + w.value
}

// splitWords splits a line at white space outside parentheses. The parentheses
// around a whole value fall away.
func splitWords(line string) ([]word, error) {
	var words []word
	for _, text := range splitOutside(line, ' ') {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		w := word{key: text}
		if key, value, ok := strings.Cut(text, "="); ok && !strings.Contains(key, "(") {
			w = word{key: key, value: value, hasValue: true}
			if inner, ok := strings.CutPrefix(value, "("); ok {
				if inner, ok = strings.CutSuffix(inner, ")"); !ok {
					return nil, fmt.Errorf("%s: the parenthesis is not closed", text)
				}
				w.value = inner
			}
		}
		words = append(words, w)
	}
	return words, nil
}

// splitOutside splits text at sep outside parentheses. Tabs count as spaces.
func splitOutside(text string, sep byte) []string {
	text = strings.ReplaceAll(text, "\t", " ")
	var parts []string
	depth, start := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		case sep:
			if depth <= 0 {
				parts = append(parts, text[start:i])
				start = i + 1
			}
		}
	}
	return append(parts, text[start:])
}

// unexpected is the error about a word that a command does not know.
func unexpected(w word) error { return fmt.Errorf("unexpected word %q", w) }
