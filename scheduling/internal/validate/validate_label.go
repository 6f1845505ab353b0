package validate

import (
	"github.com/plimsoll-go/plimsoll/requirements"
)

// What the API server says of labels, in one sentence each.
const (
	NotALabelKey = "is no label key: an optional DNS name and a slash, then up to 63 letters, digits, " +
		"'-', '_' or '.' with a letter or digit at both ends"
	NotALabelValue = "is no label value: up to 63 letters, digits, '-', '_' or '.' with a letter or digit at both ends"
)

// LabelValue reports whether s may be the value of a label.
func LabelValue(s string) bool { return requirements.ValidLabelValue(s) }

// LabelKey reports whether s may be the key of a label.
func LabelKey(s string) bool { return requirements.ValidLabelKey(s) }
