package instancetypes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// fieldKeys are the keys of filter expressions that do not stand for labels.
var fieldKeys = []string{"available", "cpu", "ephemeral-storage", "gpu", "memory", "name", "pods", "price"}

// labelKeys finds the label keys that a key of a filter expression stands for.
// There are several only if different providers have a label for the same thing.
//
// A key with a slash is a label key. Any other is the end of a well-known one:
// arch is kubernetes.io/arch, and category is karpenter.k8s.aws/instance-category,
// since the "instance-" and "sku-" that providers begin their labels with may be
// left out. The whole name goes before a part of it.
func labelKeys(key string) ([]string, error) {
	if exact, ok := strings.CutPrefix(key, "label:"); ok {
		if exact == "" {
			return nil, errors.New("has no key after the prefix label")
		}
		return []string{requirements.NormalizeKey(exact)}, nil
	}
	if strings.Contains(key, "/") {
		return []string{requirements.NormalizeKey(key)}, nil
	}
	var whole, part []string
	for _, known := range requirements.WellKnown().Keys() {
		switch name := attribute(known); {
		case name == key || known[strings.LastIndexByte(known, '/')+1:] == key:
			whole = append(whole, known)
		case strings.HasSuffix(name, "-"+key):
			part = append(part, known)
		}
	}
	found := whole
	if len(found) == 0 {
		found = part
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("has an unknown key %q%s; write label:%s for a label of exactly that name", key, nearest(key), key)
	case !sameAttribute(found):
		return nil, fmt.Errorf("has an ambiguous key %q, which may be any of %s", key, strings.Join(found, ", "))
	}
	return found, nil
}

// attribute returns what a well-known label tells, without the provider's way to
// write it: "family" for karpenter.k8s.aws/instance-family and
// karpenter.azure.com/sku-family.
func attribute(key string) string {
	name := key[strings.LastIndexByte(key, '/')+1:]
	for _, prefix := range []string{"instance-", "sku-"} {
		if short, ok := strings.CutPrefix(name, prefix); ok {
			return short
		}
	}
	return name
}

func sameAttribute(keys []string) bool {
	for _, key := range keys[1:] {
		if attribute(key) != attribute(keys[0]) {
			return false
		}
	}
	return true
}

// nearest suggests what a mistyped key may have meant; empty if nothing is near.
func nearest(key string) string {
	known := slices.Clone(fieldKeys)
	for _, k := range requirements.WellKnown().Keys() {
		known = append(known, attribute(k))
	}
	slices.Sort(known)
	best, distance := "", 3
	for _, k := range slices.Compact(known) {
		if d := spelling.Distance(key, k); d < distance && d < len(k) {
			best, distance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}
