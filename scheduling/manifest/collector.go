package manifest

import (
	"errors"
	"fmt"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/spelling"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// found is an object of the input with the place it was found at.
type found[T any] struct {
	obj T
	at  Location
}

// collector gathers the objects of all sources.
type collector struct {
	loader   Loader
	readers  map[kind]reader
	faults   Faults
	skipped  Faults // with [Loader.SkipInvalid], one for each thing left out
	warnings []scheduling.Warning
	unnamed  int // objects that the API server would name
	seen     map[objectKey]Location
	unknown  map[unknownField]*sighting
	kinds    map[kind]*sighting // that were ignored on request

	deploying map[kind]*sighting // that have others bring objects into the cluster

	documents int // of all sources

	pods            []found[*corev1.Pod]
	nodes           []found[*corev1.Node]
	claims          []found[*NodeClaim]
	pools           []*scheduling.NodePool
	overlays        []instancetypes.NodeOverlay
	classes         map[scheduling.NodeClassRef]nodeClass
	daemonSets      []*appsv1.DaemonSet
	deployments     []found[*appsv1.Deployment]
	statefulSets    []found[*appsv1.StatefulSet]
	replicaSets     []found[*appsv1.ReplicaSet]
	controllers     []found[*corev1.ReplicationController]
	jobs            []found[*batchv1.Job]
	cronJobs        []found[*batchv1.CronJob]
	limitRanges     []*corev1.LimitRange
	priorityClasses []*schedulingv1.PriorityClass
	runtimeClasses  []*nodev1.RuntimeClass
	budgets         []*policyv1.PodDisruptionBudget
	quotas          []*corev1.ResourceQuota
	autoscalers     []*autoscaler
	volumeClaims    []*corev1.PersistentVolumeClaim
	volumes         []*corev1.PersistentVolume
	storageClasses  []*storagev1.StorageClass
	csiNodes        []*storagev1.CSINode
	namespaces      []*corev1.Namespace
	services        []*corev1.Service
	spread          *spreadDefaults
	workloadRefs    sighting // of pods and templates
}

// objectKey identifies an object in a cluster.
type objectKey struct {
	kind            kind
	namespace, name string
}

// unknownField is a field that a kind does not have, with indexes left open.
type unknownField struct{ kind, field string }

// sighting counts something and remembers where it was seen first.
type sighting struct {
	object, field string
	meant         string // the field that was probably meant, or its path
	count         int
}

func newCollector(l Loader) *collector {
	return &collector{
		loader:    l,
		readers:   readers(),
		seen:      map[objectKey]Location{},
		unknown:   map[unknownField]*sighting{},
		kinds:     map[kind]*sighting{},
		deploying: map[kind]*sighting{},
		classes:   map[scheduling.NodeClassRef]nodeClass{},
	}
}

// full says that enough faults were found to stop.
func (c *collector) full() bool { return len(c.faults) > maxFaults }

// fault adds a fault. The last one that there is room for says that there may be more.
// What may be left out is.
func (c *collector) fault(f *Fault) {
	switch {
	case c.loader.SkipInvalid && f.Reason != Unreadable:
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

// count counts a sighting.
func count[K comparable](m map[K]*sighting, key K, object, field string) {
	if m[key] == nil {
		m[key] = &sighting{object: object, field: field}
	}
	m[key].count++
}

// take decodes an object and gives it its namespace. It reports a fault and returns
// false for one that cannot be used.
func take[T any, P interface {
	*T
	metav1.Object
}](c *collector, o rawObject, namespaced bool) (found[P], bool) {
	obj := P(new(T))
	faults, unknown := decode(o.json, obj)
	f := found[P]{obj: obj, at: o.at}
	if len(faults) > 0 {
		for _, ff := range faults {
			c.fault(&Fault{At: o.at, Object: refOf(o), Field: ff.field, Value: ff.value, Message: ff.msg})
		}
		return f, false
	}
	ok := c.admit(o, obj, namespaced)
	for _, field := range unknown {
		key := unknownField{o.kind, anyIndex(field.String())}
		if count(c.unknown, key, warned(o.kind, obj), field.String()); c.unknown[key].count == 1 {
			c.unknown[key].meant = spelling.Field(reflect.TypeFor[T](), field.String())
		}
	}
	return f, ok
}

// admit gives an object its namespace, drops what is of no use, and sees to it that
// no other object has its name.
func (c *collector) admit(o rawObject, obj metav1.Object, namespaced bool) bool {
	if namespaced && obj.GetNamespace() == "" {
		obj.SetNamespace(metav1.NamespaceDefault)
	}
	if !namespaced {
		obj.SetNamespace("")
	}
	obj.SetManagedFields(nil)
	delete(obj.GetAnnotations(), corev1.LastAppliedConfigAnnotation)
	if obj.GetName() == "" && obj.GetGenerateName() != "" {
		// A number in the order of the input stands for the random suffix.
		c.unnamed++
		obj.SetName(fmt.Sprintf("%s%d", obj.GetGenerateName(), c.unnamed))
	}
	if obj.GetName() == "" {
		c.fault(&Fault{At: o.at, Object: o.kind, Field: "metadata.name", Message: "is missing"})
		return false
	}
	if field, value := misnamed(obj); field != "" {
		c.fault(&Fault{At: o.at, Object: reference(o.kind, obj), Field: field, Value: quote(value), Message: "is no name: names are of lower-case letters, digits, - and ., and at most 253 long"})
		return false
	}
	group, _ := splitVersion(o.apiVersion)
	key := objectKey{kind{group, o.kind}, obj.GetNamespace(), obj.GetName()}
	if first, twice := c.seen[key]; twice {
		c.fault(&Fault{
			At: o.at, Object: reference(o.kind, obj), Field: "metadata.name", Value: quote(obj.GetName()),
			Message: "is a duplicate of the one in " + first.String(), Reason: Duplicate,
		})
		return false
	}
	c.seen[key] = o.at
	return true
}

// misnamed returns the name or namespace that no object of an API server can have, and
// its field; "" where there is none.
func misnamed(obj metav1.Object) (field, value string) {
	if len(validation.IsDNS1123Subdomain(obj.GetName())) > 0 {
		return "metadata.name", obj.GetName()
	}
	if ns := obj.GetNamespace(); ns != "" && len(validation.IsDNS1123Label(ns)) > 0 {
		return "metadata.namespace", ns
	}
	return "", ""
}

// finish makes the snapshot of what was read, unless there were faults.
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
