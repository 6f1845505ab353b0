package validate

import (
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Read checks a problem. With a policy it checks this too, and returns the specs of the pods to place, so that
// each pod is read from memory once. The error is a [*FieldErrors] with all faults.
func Read(p *scheduling.Problem, s *scheduling.Policy) (*podspec.Readings, error) {
	c := NewChecker()
	if s != nil {
		c.List = Faults(s)
	}
	readings := c.AllPods(p, s)
	c.Objects(p)
	c.PoolCatalogs(p)
	if len(c.List) == 0 {
		c.Choice(p)
	}
	return readings, c.Err()
}

// PoolCatalogs reports catalogs for NodePools that do not exist.
func (c *Checker) PoolCatalogs(p *scheduling.Problem) {
	if len(p.PoolCatalogs) == 0 {
		return
	}
	pools := map[string]bool{}
	for _, pool := range p.NodePools {
		if pool != nil {
			pools[pool.Name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.PoolCatalogs)) {
		if !pools[name] {
			c.At = Position{List: "poolCatalogs", Name: name}
			c.Add("", "there is no NodePool of this name", "")
		}
	}
}

// Objects checks all objects except pods, and kube-scheduler's profile.
func (c *Checker) Objects(p *scheduling.Problem) {
	Listed(c, "nodes", p.Nodes, func(n *corev1.Node) {
		c.amounts(n.Status.Capacity, "status.capacity", capacityFault)
		c.amounts(n.Status.Allocatable, "status.allocatable", capacityFault)
	})
	c.storage(p)
	Listed(c, "daemonsets", p.DaemonSets, func(d *appsv1.DaemonSet) {
		c.spec = "spec.template.spec"
		c.podSpec(&d.Spec.Template.Spec)
	})
	Listed(c, "nodepools", p.NodePools, c.nodePool)
	for pod, node := range p.Nominated {
		if pod.Name == "" {
			c.At = Position{List: "nominated", Namespace: podspec.OrDefault(pod.Namespace)}
			c.Add(node, "names no pod", "")
		}
	}
	c.groupingObjects(p)
	c.List = append(c.List, schedulerFaults(&p.Scheduler)...)
}

// Checker collects faults on a walk through a problem. It knows the present object, so that paths become text
// only for a fault.
type Checker struct {
	scheduling.Faults
	At   Position
	spec string // path of the pod spec within the object
	// names counts the names of the present list.
	names map[types.NamespacedName]int
	// reader, if set, reads the pods that were checked.
	reader *podspec.SpecReader
	pods   int // number of pods that it was given
}

// NewChecker returns a checker without faults.
func NewChecker() *Checker {
	c := &Checker{}
	c.Object = c.path
	return c
}

// Position is an entry of one of the problem's lists, by index until its name is known.
type Position struct {
	List            string
	Index           int
	Namespace, Name string
}

// path returns the path of the present object.
func (c *Checker) path() string {
	switch {
	case c.At.Name == "":
		return c.At.List + "[" + strconv.Itoa(c.At.Index) + "]"
	case c.At.Namespace == "":
		return c.At.List + "[" + c.At.Name + "]"
	default:
		return c.At.List + "[" + c.At.Namespace + "/" + c.At.Name + "]"
	}
}

// Enter moves on to an entry, and reports whether it is not nil.
func (c *Checker) Enter(list string, index int, isNil bool) bool {
	c.At = Position{List: list, Index: index}
	if isNil {
		c.Add("", "is nil", "")
	}
	return !isNil
}

// Listed checks that each object of a list is not nil and has a unique name, and calls check, which may be nil,
// for objects with a name.
func Listed[T interface {
	comparable
	metav1.Object
}](c *Checker, list string, objects []T, check func(T)) {
	var none T
	c.names = make(map[types.NamespacedName]int, len(objects))
	for i, o := range objects {
		if c.Enter(list, i, o == none) && c.named(o.GetNamespace(), o.GetName()) && check != nil {
			check(o)
		}
	}
}

// named notes the name of the entry. It reports false where it has none.
func (c *Checker) named(namespace, name string) bool {
	if name == "" {
		c.Add("", "is missing", "metadata.name")
		return false
	}
	c.At.Namespace, c.At.Name = namespace, name
	key := types.NamespacedName{Namespace: namespace, Name: name}
	if c.names[key]++; c.names[key] == 2 {
		c.Add("", "is there more than once", "")
	}
	return true
}

// join combines the readings of several readers of consecutive pods. The numbers of the first one stay.
func join(r *podspec.Readings, parts []*Checker, none *podspec.SpecReader) *podspec.Readings {
	all, at := none, 0
	for _, part := range parts {
		m := part.reader
		if m == nil {
			continue
		}
		if at == 0 {
			all, at = m, part.pods
			continue
		}
		numbers := make([]int32, len(m.PodSpecKeys))
		for i, x := range m.PodSpecKeys {
			numbers[i] = all.Read(x.Pod)
		}
		of := r.Of[at : at+part.pods]
		for i, n := range of {
			if n >= 0 {
				of[i] = numbers[n]
			}
		}
		at += part.pods
	}
	r.Table, r.PodSpecKeys = all.Table, all.PodSpecKeys
	return r
}

// Messages for labels that the API server would reject.
const (
	NotALabelKey = "is no label key: an optional DNS name and a slash, then up to 63 letters, digits, " +
		"'-', '_' or '.' with a letter or digit at both ends"
	NotALabelValue = "is no label value: up to 63 letters, digits, '-', '_' or '.' with a letter or digit at both ends"
)

// LabelValue reports whether s is a valid label value.
func LabelValue(s string) bool { return requirements.ValidLabelValue(s) }

// LabelKey reports whether s is a valid label key.
func LabelKey(s string) bool { return requirements.ValidLabelKey(s) }
