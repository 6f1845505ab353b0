package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// collector gathers the objects of all sources.
type collector struct {
	loader    Loader
	emit      func(rawObject) // is given each object
	readers   map[groupKind]reader
	documents int // of all sources

	faults   Faults
	skipped  Faults // with [Loader.SkipInvalid], one for each thing left out
	warnings []scheduling.Warning

	seen    map[objectKey]Location
	unnamed int // objects that the API server would name

	fields       map[unknownField]*sighting
	ignored      map[groupKind]*sighting // unknown kinds that were left out on request
	deploying    map[groupKind]*sighting // kinds of objects that bring further objects into the cluster
	workloadRefs sighting                // of pods and templates

	// problem holds the objects that become part of it unchanged; pods and the pods of workloads
	// are added when the whole input was read, because they depend on other objects.
	problem         scheduling.Problem
	pods            []*corev1.Pod
	workloads       []*workload
	claims          []*NodeClaim
	overlays        []*instancetypes.NodeOverlay
	classes         map[scheduling.NodeClassRef]nodeClass
	limitRanges     []*corev1.LimitRange
	priorityClasses []*schedulingv1.PriorityClass
	runtimeClasses  []*nodev1.RuntimeClass
	budgets         []*policyv1.PodDisruptionBudget
	quotas          []*corev1.ResourceQuota
	computeClasses  map[string][]string // names of their NodePools
	autoscalers     []*autoscaler
	scheduler       *Location // of kube-scheduler's configuration
}

// objectKey identifies an object in a cluster.
type objectKey struct {
	kind            groupKind
	namespace, name string
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

func newCollector(l Loader) *collector {
	c := &collector{
		loader:    l,
		readers:   readers(),
		seen:      map[objectKey]Location{},
		fields:    map[unknownField]*sighting{},
		ignored:   map[groupKind]*sighting{},
		deploying: map[groupKind]*sighting{},
		classes:   map[scheduling.NodeClassRef]nodeClass{},

		computeClasses: map[string][]string{},
	}
	c.emit = c.add
	return c
}

// finish makes the snapshot of the objects that were read, unless there were faults.
func (c *collector) finish(err error) (*Snapshot, error) {
	if len(c.faults) == 0 && err == nil {
		if s := c.snapshot(); len(c.faults) == 0 {
			return s, nil
		}
	}
	if len(c.faults) > 0 {
		err = errors.Join(err, c.faults)
	}
	return nil, err
}

// warn adds a warning.
func (c *collector) warn(object, message string) {
	c.warnings = append(c.warnings, scheduling.Warning{Object: object, Message: message})
}

// enoughFaults says that enough faults were found to stop.
func (c *collector) enoughFaults() bool { return len(c.faults) > maxFaults }

// fault adds a fault, unless SkipInvalid allows to leave the object out. The last fault within the
// limit says that there may be more.
func (c *collector) fault(f *Fault) {
	switch {
	case c.loader.SkipInvalid && f.Kind != Unreadable:
		if f.Kind == Invalid && isPlaceholder(f.Value) {
			f.Kind = Template
		}
		c.skipped = append(c.skipped, f)
	case len(c.faults) < maxFaults:
		c.faults = append(c.faults, f)
	case len(c.faults) == maxFaults:
		c.faults = append(c.faults, &Fault{
			At:      Location{Source: f.At.Source, Item: -1},
			Message: fmt.Sprintf("reading stopped after %d faults", maxFaults),
		})
	}
}

// refuse reports the faults of an object. An object that is left out has one fault.
func (c *collector) refuse(o rawObject, object string, faults []fieldFault) {
	for _, ff := range faults {
		f := &Fault{At: o.at, Object: object, Field: ff.field, Value: ff.value, Message: ff.msg, cause: ff.cause}
		if c.fault(f); c.loader.SkipInvalid {
			return
		}
	}
}

// isPlaceholder says whether a value that makes no sense stands for one that is still to
// be filled in.
func isPlaceholder(value string) bool {
	return isTemplate(value) || strings.ContainsAny(value, "<>") || strings.Contains(value, "${") || strings.Contains(value, "$(")
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
		c.complete(obj, namespaced)
		ref = reference(o.kind, obj)
		faults = append(faults, lo.Reject(check(obj), func(f fieldFault, _ int) bool {
			return slices.ContainsFunc(faults, func(known fieldFault) bool { return known.field == f.field })
		})...)
	}
	if len(faults) > 0 {
		c.refuse(o, ref, faults)
		return nil, false
	}
	ok := c.admit(o, obj, namespaced)
	if obj.GetUID() == "" {
		for _, field := range fields {
			c.noteUnknown(o.kind, obj, field)
		}
	}
	return obj, ok
}

// noteUnknown counts an object with a field that the Go type of its kind does not have.
func (c *collector) noteUnknown(kind string, obj metav1.Object, field string) {
	s := count(c.fields, unknownFieldOf(kind, field), warned(kind, obj))
	if s.count == 1 {
		s.field, s.suggest = field, meantField(obj, field)
	}
}

// complete gives an object its namespace and drops fields without use.
func (c *collector) complete(obj metav1.Object, namespaced bool) {
	switch {
	case !namespaced:
		obj.SetNamespace("")
	case obj.GetNamespace() == "":
		obj.SetNamespace(metav1.NamespaceDefault)
	}
	obj.SetManagedFields(nil)
	delete(obj.GetAnnotations(), corev1.LastAppliedConfigAnnotation)
	if obj.GetName() == "" && obj.GetGenerateName() != "" {
		// A number in the order of the input stands for the random suffix.
		c.unnamed++
		obj.SetName(fmt.Sprintf("%s%d", obj.GetGenerateName(), c.unnamed))
	}
}

// admit sees to it that an object has a name, and that no other one has it.
func (c *collector) admit(o rawObject, obj metav1.Object, namespaced bool) bool {
	c.complete(obj, namespaced)
	f := Fault{At: o.at, Object: reference(o.kind, obj), Field: "metadata.name", Value: quote(obj.GetName())}
	key := objectKey{o.group(), obj.GetNamespace(), obj.GetName()}
	first, twice := c.seen[key]
	const noName = "is no name: names are of lower-case letters, digits, - and ., and at most 253 long"
	switch ns := obj.GetNamespace(); {
	case obj.GetName() == "":
		f.Object, f.Message = o.kind, "is missing"
	case len(validation.IsDNS1123Subdomain(obj.GetName())) > 0:
		f.Message = noName
	case ns != "" && len(validation.IsDNS1123Label(ns)) > 0:
		f.Field, f.Value, f.Message = "metadata.namespace", quote(ns), noName
	case twice:
		f.Message, f.Kind = "is a duplicate of the one in "+first.String(), Duplicate
	default:
		c.seen[key] = o.at
		return true
	}
	c.fault(&f)
	return false
}

// kept reads objects of a kind into a list, and checks them as part of a problem.
func kept[T any, P object[T]](namespaced bool, list func(*collector) *[]P, adjust ...func(rawObject, P)) func(*collector, rawObject) {
	return func(c *collector, o rawObject) {
		obj, ok := take(c, o, namespaced, func(obj P) []fieldFault {
			var alone collector
			*list(&alone) = []P{obj}
			return validate(&alone.problem, "")
		})
		if !ok {
			return
		}
		for _, f := range adjust {
			f(o, obj)
		}
		*list(c) = append(*list(c), obj)
	}
}
