package scheduling

import "strings"

// What the API server says of labels, in one sentence each. The rules are those of
// validation.IsQualifiedName and validation.IsValidLabelValue in apimachinery,
// written without regular expressions because they run for every pod.
const (
	notALabelKey = "is no label key: an optional DNS name and a slash, then up to 63 letters, digits, " +
		"'-', '_' or '.' with a letter or digit at both ends"
	notALabelValue = "is no label value: up to 63 letters, digits, '-', '_' or '.' with a letter or digit at both ends"

	maxLabel  = 63
	maxDomain = 253
)

// labelValue reports whether s may be the value of a label.
func labelValue(s string) bool { return s == "" || labelName(s) }

// labelKey reports whether s may be the key of a label.
func labelKey(s string) bool {
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
