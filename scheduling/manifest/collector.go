package manifest

import (
	"encoding/json"
	"slices"

	"github.com/samber/lo"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// collector reads the objects of an input, each by the reader of its kind.
type collector struct {
	readers       map[groupKind]reader
	ignoreUnknown bool // as in [Loader]

	found     *findings
	names     *registry
	unread    *unreadParts
	objects   *objects
	scheduler *Location // of kube-scheduler's configuration
}

// newCollector returns a collector without objects, which reports to found.
func newCollector(found *findings, ignoreUnknown bool) *collector {
	return &collector{
		readers:       readers(),
		ignoreUnknown: ignoreUnknown,
		found:         found,
		names:         &registry{seen: map[objectKey]Location{}},
		unread:        newUnreadParts(),
		objects:       &objects{classes: map[scheduling.NodeClassRef]nodeClass{}, computeClasses: map[string][]string{}, classParts: map[string]ComputeClassPart{}},
	}
}

// object is a pointer to the Go type of a kind.
type object[T any] interface {
	*T
	metav1.Object
}

// take decodes an object, gives it its namespace, and reports its faults, with the faults of check
// unless the API server has accepted the object. It returns false for an object that cannot be
// used.
func take[T any, P object[T]](c *collector, o rawObject, namespaced bool, check func(P) []fieldFault) (P, bool) {
	obj := P(new(T))
	faults, fields, decoded := decode(o.json, obj, "", strict.Rules{NullEntries: builtIn(o.group().group)})
	ref := refOf(o)
	if decoded && check != nil && obj.GetUID() == "" {
		c.names.complete(obj, namespaced)
		ref = reference(o.kind, obj)
		faults = append(faults, lo.Reject(check(obj), func(f fieldFault, _ int) bool {
			return slices.ContainsFunc(faults, func(known fieldFault) bool { return known.field == f.field })
		})...)
	}
	if len(faults) > 0 {
		c.found.refuse(o, ref, faults)
		return nil, false
	}
	ok := c.admit(o, obj, namespaced)
	if obj.GetUID() == "" {
		for _, field := range fields {
			c.unread.noteField(o.kind, obj, field)
		}
	}
	return obj, ok
}

// admit registers an object, and reports whether it could.
func (c *collector) admit(o rawObject, obj metav1.Object, namespaced bool) bool {
	f := c.names.admit(o, obj, namespaced)
	if f != nil {
		c.found.fault(f)
	}
	return f == nil
}

// convert reads an object that another one of the input was made into.
func (c *collector) convert(at Location, name, group, version string, fields map[string]any) {
	apiVersion := group + "/" + version
	fields["kind"], fields["apiVersion"] = name, apiVersion
	raw, err := json.Marshal(fields)
	if err != nil {
		c.found.fault(&Fault{At: at, Object: name, Message: err.Error()})
		return
	}
	c.add(rawObject{at: at, apiVersion: apiVersion, kind: name, json: raw})
}

// kept reads objects of a kind into a list, and checks them as part of a problem.
func kept[T any, P object[T]](namespaced bool, list func(*objects) *[]P, adjust ...func(rawObject, P)) func(*collector, rawObject) {
	return func(c *collector, o rawObject) {
		obj, ok := take(c, o, namespaced, func(obj P) []fieldFault {
			var alone objects
			*list(&alone) = []P{obj}
			return validate(&alone.problem, "")
		})
		if !ok {
			return
		}
		for _, f := range adjust {
			f(o, obj)
		}
		*list(c.objects) = append(*list(c.objects), obj)
	}
}
