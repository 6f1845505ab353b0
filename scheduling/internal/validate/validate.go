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

// Read is Validate; for a solver, it also checks its settings and reads the pods to be placed on the way, so
// that their memory is walked through once.
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

// PoolCatalogs reports catalogs of pools that are not there.
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

// Objects checks all objects but pods, each for itself, and how kube-scheduler is configured.
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
	c.surroundings(p)
	c.List = append(c.List, schedulerFaults(&p.Scheduler)...)
}

// Checker walks through a problem. It holds where it is, so that paths need not be
// built before there is a fault.
type Checker struct {
	scheduling.Faults
	At   Position
	spec string // path of the pod spec within the object
	// names are the objects of the kind at hand.
	names map[types.NamespacedName]int
	// moulder, where it is set, reads the pods that were checked.
	moulder *podspec.SpecReader
	pods    int // how many it was given
}

// NewChecker returns a checker that has found nothing.
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

// path leads to the object at hand.
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

// Enter moves on to an entry, and reports whether there is anything in it.
func (c *Checker) Enter(list string, index int, isNil bool) bool {
	c.At = Position{List: list, Index: index}
	if isNil {
		c.Add("", "is nil", "")
	}
	return !isNil
}

// Listed checks that each object of a list is there, has a name, and is there once, and checks it for
// itself where it has a name; check may be nil.
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

// named takes down the name of the entry. It reports false where there is none.
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

// join completes readings from those of several moulders, whose pods follow each other.
// The first one's numbers stand.
func join(r *podspec.Readings, parts []*Checker, none *podspec.SpecReader) *podspec.Readings {
	all, at := none, 0
	for _, part := range parts {
		m := part.moulder
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
