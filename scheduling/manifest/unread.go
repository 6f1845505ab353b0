package manifest

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// unreadParts are the parts of an input that plans do not read, each to be named in a warning.
type unreadParts struct {
	fields       map[unknownField]*sighting
	ignored      map[groupKind]*sighting // unknown kinds that were left out on request
	deploying    map[groupKind]*sighting // kinds of objects that bring further objects into the cluster
	workloadRefs sighting                // of pods and templates
}

func newUnreadParts() *unreadParts {
	return &unreadParts{fields: map[unknownField]*sighting{}, ignored: map[groupKind]*sighting{}, deploying: map[groupKind]*sighting{}}
}

// noteField counts an object with a field that the Go type of its kind does not have.
func (u *unreadParts) noteField(kind string, obj metav1.Object, field string) {
	s := count(u.fields, unknownFieldOf(kind, field), warned(kind, obj))
	if s.count == 1 {
		s.field, s.suggest = field, suggestedField(obj, field)
	}
}

// noteWorkloadRef counts a pod with a field of Kubernetes 1.35 that our types do not have
// any more.
func (u *unreadParts) noteWorkloadRef(o rawObject, obj metav1.Object) {
	if bytes.Contains(o.json, []byte(`"workloadRef"`)) {
		u.workloadRefs.see(warned(o.kind, obj))
	}
}

// report warns of the parts. suggestKind returns the kind that was probably meant by an unknown one.
func (u *unreadParts) report(found *findings, suggestKind func(groupKind) string) {
	for key, s := range u.fields {
		found.warn(s.object, fmt.Sprintf("field %s is not known for a %s%s and was left out%s", s.field, key.kind, didYouMean(s.suggest), s.others()))
	}
	for k, s := range u.ignored {
		found.warn(s.object, fmt.Sprintf("kind %s is not known%s and was left out%s", k.name, didYouMean(suggestKind(k)), s.others()))
	}
	for k, s := range u.deploying {
		found.warn(s.object, "is of kind "+k.name+": the objects that it deploys are planned only if they are in the input, too"+s.others())
	}
}

// unknownField is a field that a kind does not have, with indexes left open, so that the
// same field of many objects is one field.
type unknownField struct{ kind, field string }

// index is an element's place in a list.
var index = regexp.MustCompile(`\[\d+\]`)

// unknownFieldOf returns the field of a kind that stands at a path.
func unknownFieldOf(kind, path string) unknownField {
	return unknownField{kind, index.ReplaceAllString(path, "[*]")}
}

// sighting counts something and remembers where it was seen first.
type sighting struct {
	object, field string
	suggest       string // the field that was probably meant, or its path
	count         int
}

// see counts one.
func (s *sighting) see(object string) {
	s.object = cmp.Or(s.object, object)
	s.count++
}

// others states the number of further objects for which a warning holds.
func (s *sighting) others() string {
	if s.count <= 1 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", s.count-1)
}

// count counts a sighting.
func count[K comparable](m map[K]*sighting, key K, object string) *sighting {
	if m[key] == nil {
		m[key] = &sighting{}
	}
	m[key].see(object)
	return m[key]
}
