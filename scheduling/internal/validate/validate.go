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
	"github.com/plimsoll-go/plimsoll/scheduling/internal/faults"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Read checks a problem. With a policy it checks this too, and returns the specs of the pods to place, so that
// each pod is read from memory once. The error is a [*FieldErrors] with all faults.
func Read(p *scheduling.Problem, s *scheduling.Policy) (*podspec.Readings, error) {
	c := NewChecker()
	if s != nil {
		c.Faults.List = Faults(s)
	}
	readings := c.AllPods(p, s)
	c.Objects(p)
	c.PoolCatalogs(p)
	if len(c.Faults.List) == 0 {
		c.Choice(p)
	}
	return readings, c.Faults.Err()
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
			c.MoveTo(Position{List: "poolCatalogs", Name: name})
			c.Faults.Add("", "there is no NodePool of this name", "")
		}
	}
}

// Objects checks all objects except pods, and kube-scheduler's profile.
func (c *Checker) Objects(p *scheduling.Problem) {
	Listed(c, "nodes", p.Nodes, func(n *corev1.Node) {
		amountFaults(&c.Faults, n.Status.Capacity, "status.capacity", capacityFault)
		amountFaults(&c.Faults, n.Status.Allocatable, "status.allocatable", capacityFault)
	})
	c.storage(p)
	Listed(c, "daemonsets", p.DaemonSets, func(d *appsv1.DaemonSet) {
		spec := podSpecChecker{faults: &c.Faults, path: "spec.template.spec"}
		spec.check(&d.Spec.Template.Spec)
	})
	Listed(c, "nodepools", p.NodePools, nodePoolChecker{faults: &c.Faults}.check)
	for pod, node := range p.Nominated {
		if pod.Name == "" {
			c.MoveTo(Position{List: "nominated", Namespace: podspec.OrDefault(pod.Namespace)})
			c.Faults.Add(node, "names no pod", "")
		}
	}
	c.groupingObjects(p)
	c.Faults.List = append(c.Faults.List, schedulerFaults(&p.Scheduler)...)
}

// Checker collects faults on a walk through a problem. It knows the present object, so that paths become text
// only for a fault.
type Checker struct {
	Faults faults.Collector
	at     Position // the present object
	// names counts the names of the present list.
	names map[types.NamespacedName]int
}

// NewChecker returns a checker without faults.
func NewChecker() *Checker {
	c := &Checker{}
	c.Faults.Object = c.path
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
	case c.at.Name == "":
		return c.at.List + "[" + strconv.Itoa(c.at.Index) + "]"
	case c.at.Namespace == "":
		return c.at.List + "[" + c.at.Name + "]"
	default:
		return c.at.List + "[" + c.at.Namespace + "/" + c.at.Name + "]"
	}
}

// MoveTo makes an entry the present object, to which faults are added from then on.
func (c *Checker) MoveTo(entry Position) { c.at = entry }

// Enter moves on to an entry, and reports whether it is not nil.
func (c *Checker) Enter(list string, index int, isNil bool) bool {
	c.MoveTo(Position{List: list, Index: index})
	if isNil {
		c.Faults.Add("", "is nil", "")
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
		c.Faults.Add("", "is missing", "metadata.name")
		return false
	}
	c.at.Namespace, c.at.Name = namespace, name
	key := types.NamespacedName{Namespace: namespace, Name: name}
	if c.names[key]++; c.names[key] == 2 {
		c.Faults.Add("", "is there more than once", "")
	}
	return true
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
