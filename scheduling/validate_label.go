package scheduling

import "github.com/plimsoll-go/plimsoll/requirements"

// What the API server says of labels, in one sentence each.
const (
	notALabelKey = "is no label key: an optional DNS name and a slash, then up to 63 letters, digits, " +
		"'-', '_' or '.' with a letter or digit at both ends"
	notALabelValue = "is no label value: up to 63 letters, digits, '-', '_' or '.' with a letter or digit at both ends"
)

// labelValue reports whether s may be the value of a label.
func labelValue(s string) bool { return requirements.ValidLabelValue(s) }

// labelKey reports whether s may be the key of a label.
func labelKey(s string) bool { return requirements.ValidLabelKey(s) }
