package manifest

import (
	"reflect"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/plimsoll-go/plimsoll/internal/untrusted"
)

// fieldFault is a fault of which the object is known.
type fieldFault struct {
	field, value, msg string
}

// decode fills obj, a pointer to the Go type of the kind, from the object's JSON.
// Faults hold every value of a wrong type and every key that stands twice; unknown
// are the paths of fields that the type does not have.
//
// What the API server has taken has neither, but may have fields of a version of
// Kubernetes that is newer than our types; such an object is told by its UID.
func decode(raw []byte, obj metav1.Object) (faults []fieldFault, unknown []path) {
	if field, value, found := untrusted.Quantity(raw); found {
		return []fieldFault{{field: field, value: value, msg: "is no quantity: its exponent is out of all proportion"}}, nil
	}
	err := kjson.Unmarshal(raw, obj)
	if err == nil && obj.GetUID() != "" {
		return nil, nil
	}
	tree, twice, treeErr := parseTree(raw)
	if treeErr != nil {
		return []fieldFault{{msg: treeErr.Error()}}, nil
	}
	c := typeChecker{}
	c.check(tree, reflect.TypeOf(obj).Elem(), nil)
	for _, p := range twice {
		c.faults = append(c.faults, fieldFault{field: p.String(), msg: "stands there twice"})
	}
	if err != nil && len(c.faults) == 0 {
		c.faults = append(c.faults, fieldFault{msg: strings.TrimPrefix(err.Error(), "json: ")})
	}
	return c.faults, c.unknown
}

// ownedByServer says whether a field is written by the API server or a controller
// and not by the user.
func ownedByServer(at path) bool {
	return len(at) > 0 && (at[0].name == "status" || at[0].name == "metadata")
}

// index is an element's place in a list.
var index = regexp.MustCompile(`\[\d+\]`)

// anyIndex returns a path with its indexes left open, so that the same field of many
// objects is one field.
func anyIndex(field string) string { return index.ReplaceAllString(field, "[*]") }
