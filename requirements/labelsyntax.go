package requirements

import "strings"

const (
	maxLabel  = 63
	maxDomain = 253
)

// ValidLabelValue reports whether s may be the value of a label: empty, or up to 63
// letters, digits, '-', '_' or '.' with a letter or digit at both ends. It is the
// rule of apimachinery's IsValidLabelValue without its regular expression, for places
// that check every offering or pod.
func ValidLabelValue(s string) bool { return s == "" || labelName(s) }

// ValidLabelKey reports whether s may be the key of a label: a name like a value's
// but not empty, after an optional DNS name and a slash. It is the rule of
// apimachinery's IsQualifiedName.
func ValidLabelKey(s string) bool {
	domain, name, found := strings.Cut(s, "/")
	if !found {
		return labelName(s)
	}
	return labelName(name) && domainName(domain)
}

func labelName(s string) bool {
	if s == "" || len(s) > maxLabel || !alphanumeric(s[0]) || !alphanumeric(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !alphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

// domainName reports whether s is a DNS name in lower case.
func domainName(s string) bool {
	if s == "" || len(s) > maxDomain {
		return false
	}
	previous := byte('.')
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
		case c == '-' && previous != '.':
		case c == '.' && previous != '.' && previous != '-':
		default:
			return false
		}
		previous = c
	}
	return previous != '.' && previous != '-'
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
