package scheduling

import (
	"maps"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Validate reports every fault of the problem at once, as [*FieldErrors]; nil where
// there is none. A pod that fits nowhere is no fault, nor is a running pod whose
// node is not among Nodes. These are:
//
//   - entries that are nil, without a name, or there twice: pods (Pods and Running
//     together), nodes, DaemonSets, NodePools, claims, volumes, storage classes, CSINodes,
//     namespaces, Services and Owners;
//   - in pods and in the templates of DaemonSets: quantities that are negative or
//     too large (an int64, of millicores for CPU), requests above limits, and
//     selectors, affinities, spread constraints, tolerations and host ports that
//     the API server would refuse;
//   - constraints of DefaultSpread that kube-scheduler would refuse;
//   - quantities of nodes that are negative or too large;
//   - in claims, volumes, storage classes and CSINodes: access modes, node affinity,
//     topologies, binding modes and limits that the API server would refuse;
//   - NodePools that Karpenter would refuse, or whose own requirements contradict
//     each other;
//   - catalogs for pools that do not exist;
//   - where there are pods to place, and pools to buy from and no nodes: catalogs without
//     offerings. Requirements that leave none of these are no fault: plans warn of them.
func (p *Problem) Validate() error {
	_, err := p.read(nil)
	return err
}

// read is Validate; for a solver, it also checks its settings and reads the pods to be placed on the way, so
// that their memory is walked through once.
func (p *Problem) read(s *Policy) (*readings, error) {
	c := newChecker()
	if s != nil {
		c.list = s.faults()
	}
	readings := c.allPods(p, s)
	c.objects(p)
	c.poolCatalogs(p)
	c.surroundings(p)
	if len(c.list) == 0 {
		c.choice(p)
	}
	return readings, c.err()
}

// poolCatalogs reports catalogs of pools that are not there.
func (c *checker) poolCatalogs(p *Problem) {
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
			c.at = position{list: "poolCatalogs", name: name}
			c.add("", "there is no NodePool of this name", "")
		}
	}
}

// objects checks all objects but pods, each for itself.
func (c *checker) objects(p *Problem) {
	c.names = newNameSet(len(p.Nodes))
	for i, n := range p.Nodes {
		if !c.enter("nodes", i, n == nil) || !c.named(&n.ObjectMeta) {
			continue
		}
		c.amounts(n.Status.Capacity, "status.capacity")
		c.amounts(n.Status.Allocatable, "status.allocatable")
	}
	c.storage(p)
	c.names = newNameSet(len(p.DaemonSets))
	for i, d := range p.DaemonSets {
		if !c.enter("daemonsets", i, d == nil) || !c.named(&d.ObjectMeta) {
			continue
		}
		c.spec = "spec.template.spec"
		c.podSpec(&d.Spec.Template.Spec)
	}
	c.names = newNameSet(len(p.NodePools))
	for i, pool := range p.NodePools {
		if !c.enter("nodepools", i, pool == nil) || !c.named(&pool.ObjectMeta) {
			continue
		}
		c.nodePool(pool)
	}
}

// checker walks through a problem. It holds where it is, so that paths need not be
// built before there is a fault.
type checker struct {
	faults
	at   position
	spec string // path of the pod spec within the object
	// names are the objects of the kind at hand.
	names *nameSet
	// moulder, where it is set, reads the pods that were checked.
	moulder *moulder
	pods    int // how many it was given
}

func newChecker() *checker {
	c := &checker{}
	c.object = c.path
	return c
}

// position is an entry of one of the problem's lists, by index until its name is known.
type position struct {
	list            string
	index           int
	namespace, name string
}

// path leads to the object at hand.
func (c *checker) path() string {
	switch {
	case c.at.name == "":
		return c.at.list + "[" + strconv.Itoa(c.at.index) + "]"
	case c.at.namespace == "":
		return c.at.list + "[" + c.at.name + "]"
	default:
		return c.at.list + "[" + c.at.namespace + "/" + c.at.name + "]"
	}
}

// enter moves on to an entry, and reports whether there is anything in it.
func (c *checker) enter(list string, index int, isNil bool) bool {
	c.at = position{list: list, index: index}
	if isNil {
		c.add("", "is nil", "")
	}
	return !isNil
}

// named takes down the name of the entry. It reports false where there is none.
func (c *checker) named(meta *metav1.ObjectMeta) bool {
	if meta.Name == "" {
		c.add("", "is missing", "metadata.name")
		return false
	}
	c.at.namespace, c.at.name = meta.Namespace, meta.Name
	c.once()
	return true
}

// once reports an object that was there before, one time.
func (c *checker) once() {
	if first, again := c.names.add(objectKey{c.at.namespace, c.at.name}); !first && !again {
		c.add("", "is there more than once", "")
	}
}
