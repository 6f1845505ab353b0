package requirements

import (
	"fmt"
	"slices"
	"strings"
)

// Compatible reports whether an object that is constrained by s can serve the requests of o, e.g. a
// NodePool those of a pod: nil, or every [*Conflict], joined when there are several. It has a
// direction. A key of o that s does not define is a conflict, unless a missing label satisfies o's
// requirement or the key is in allowUndefined; keys of s that o does not have are free. Keys of
// both must overlap.
//
// Pass [WellKnown] for nodes that are not launched yet, because their labels follow from the
// launch, and no keys for running nodes, whose labels are all known.
func (s Set) Compatible(o Set, allowUndefined ...KeySet) error {
	var conflicts []error
	for i := range o.reqs {
		want := &o.reqs[i]
		have := s.find(want.key)
		switch {
		case have != nil:
			if !have.overlaps(want) {
				conflicts = append(conflicts, &Conflict{Key: want.key, Left: *have, Right: *want})
			}
		case want.Impossible():
			conflicts = append(conflicts, &Conflict{Key: want.key, Left: Requirement{key: want.key}, Right: *want})
		case want.present && !slices.ContainsFunc(allowUndefined, func(ks KeySet) bool { return ks.Has(want.key) }):
			conflicts = append(conflicts, &Conflict{
				Key: want.key, Left: Requirement{key: want.key}, Right: *want, Undefined: true, receiver: s,
			})
		}
	}
	return joinErrors(conflicts)
}

// Overlaps reports whether one node could satisfy s and o, as far as the keys of
// both go: nil, or every [*Conflict], joined when there are several. It is
// symmetric, and keys that only one side has do not count.
func (s Set) Overlaps(o Set) error {
	var conflicts []error
	a, b := s.reqs, o.reqs
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].key < b[0].key:
			a = a[1:]
		case a[0].key > b[0].key:
			b = b[1:]
		default:
			if !a[0].overlaps(&b[0]) {
				conflicts = append(conflicts, &Conflict{Key: a[0].key, Left: a[0], Right: b[0]})
			}
			a, b = a[1:], b[1:]
		}
	}
	return joinErrors(conflicts)
}

// Conflict is the error of two requirements on one key that cannot both hold.
// It formats itself only when it is printed: most conflicts never are.
type Conflict struct {
	// Key is the label key.
	Key string
	// Left is the requirement of the receiver; when Undefined is set it allows anything.
	Left Requirement
	// Right is the requirement of the argument.
	Right Requirement
	// Undefined means that the receiver does not define the key at all, while
	// Right insists on the label.
	Undefined bool

	receiver Set
}

// Error names the key, both sides, and the key that was probably meant.
func (c *Conflict) Error() string {
	left, right := c.Left.clauses(), c.Right.clauses()
	switch {
	case c.Undefined:
		msg := fmt.Sprintf("label %q is required (%s) but not defined", c.Key, right)
		if hint := c.Hint(); hint != "" {
			msg += fmt.Sprintf("; did you mean %q?", hint)
		}
		return msg
	case c.Right.Impossible():
		return fmt.Sprintf("label %q: nothing satisfies %s", c.Key, right)
	case c.Left.Impossible():
		return fmt.Sprintf("label %q: nothing satisfies %s", c.Key, left)
	default:
		return fmt.Sprintf("label %q: %s does not overlap %s", c.Key, left, right)
	}
}

// Hint returns the key that was probably meant by an undefined one: a
// well-known key, or one that the receiver defines, which contains the key or
// ends with the part of it after the slash. It is empty when no key does. The
// closest goes first: same name after the slash, then same ending; of equal ones a key of
// Karpenter's domains, because NodePools are mostly written for Karpenter.
func (c *Conflict) Hint() string {
	if !c.Undefined || wellKnown.Has(c.Key) {
		return "" // a well-known key is spelled right, and merely missing here
	}
	best, hint := 0, ""
	consider := func(known string) {
		if score := resemblance(c.Key, known); score > best {
			best, hint = score, known
		}
	}
	for _, r := range c.receiver.reqs {
		consider(r.key)
	}
	for _, karpenters := range []bool{true, false} {
		for _, known := range wellKnown.keys {
			domain, _, _ := strings.Cut(known, "/")
			if restrictedDomain(domain) == karpenters {
				consider(known)
			}
		}
	}
	return hint
}

// minResemblance is how many characters must agree: one or two occur in any key.
const minResemblance = 3

// resemblance rates how likely key is a slip for known; 0 is not at all.
func resemblance(key, known string) int {
	name, knownName := lastPart(key), lastPart(known)
	switch {
	case name == "":
		return 0
	case name == knownName:
		return 3
	case len(name) >= minResemblance && strings.HasSuffix(known, name):
		return 2
	case len(key) >= minResemblance && strings.Contains(known, key):
		return 1
	default:
		return 0
	}
}

func lastPart(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }
