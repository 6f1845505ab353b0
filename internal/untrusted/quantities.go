package untrusted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// places is how many digits the exponent of a quantity may have. No machine needs
// more than two; apimachinery writes out the digits of 1e1000000000 one by one.
const places = 3

// lists are the fields whose values are lists of quantities.
func lists() []string {
	return []string{
		"requests", "limits", "capacity", "allocatable", "overhead", "podFixed", "allocatedResources",
		"min", "max", "default", "defaultRequest", "maxLimitRequestRatio", "storage", "sizeLimit",
		"kubeReserved", "systemReserved", "evictionThreshold", "evictionHard", "volumeSize", "hard", "used",
	}
}

// Quantity returns the path and the text of the first quantity in a JSON document
// whose exponent is out of all proportion. Documents that hold nothing of the kind
// cost one look at every byte.
func Quantity(raw []byte) (path, value string, found bool) {
	if !suspicious(raw) {
		return "", "", false
	}
	var tree any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&tree) != nil {
		return "", "", false // the decoder that reads raw next reports the syntax error
	}
	return search(tree, "", false)
}

// isList reports whether a field is a list of quantities. Case does not count, as it
// does not count to encoding/json.
func isList(key string) bool {
	return slices.ContainsFunc(lists(), func(name string) bool { return strings.EqualFold(name, key) })
}

// search walks a document; in says that the values are quantities.
func search(v any, at string, in bool) (path, value string, found bool) {
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			here := strings.TrimPrefix(at+"."+k, ".")
			if path, value, found = search(v[k], here, in || isList(k)); found {
				return path, value, true
			}
		}
	case []any:
		for i := range v {
			if path, value, found = search(v[i], fmt.Sprintf("%s[%d]", at, i), in); found {
				return path, value, true
			}
		}
	case string:
		return at, v, in && Absurd(v)
	case json.Number:
		return at, v.String(), in && Absurd(v.String())
	}
	return "", "", false
}

// Absurd reports whether the text of a quantity has an exponent of too many digits.
func Absurd(s string) bool {
	at := strings.LastIndexAny(s, "eE")
	if at < 0 {
		return false
	}
	return len(strings.TrimLeft(s[at+1:], "+-0")) > places
}

// suspicious reports whether there is anything that looks like an absurd exponent: a
// digit or point, an e, perhaps a sign, and more digits than there should be.
func suspicious(raw []byte) bool {
	for i := 1; i < len(raw); i++ {
		if raw[i]|0x20 != 'e' || !digit(raw[i-1]) && raw[i-1] != '.' {
			continue
		}
		j := i + 1
		for j < len(raw) && (raw[j] == '+' || raw[j] == '-' || raw[j] == '0') {
			j++
		}
		n := 0
		for j+n < len(raw) && digit(raw[j+n]) {
			if n++; n > places {
				return true
			}
		}
	}
	return false
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
