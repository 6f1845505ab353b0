package packing

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Shop is a problem as the simple planners see it.
type Shop struct {
	// Resources are the names of the columns of all vectors. Units are milli-units
	// for CPU and units for everything else.
	Resources []corev1.ResourceName
	// Classes are the pods, alike ones together, in no particular order.
	Classes []Class
	// Options are the offerings of all pools, the cheapest first. Of options with the same
	// room for the same classes only the cheapest is here.
	Options []Option
}

// Class is pods with equal requests that fit the same options.
type Class struct {
	Pods     []*corev1.Pod
	Requests []int64
}

// Option is one way to buy a machine.
type Option struct {
	peer.Machine // without pods
	// Room is allocatable less the requests of daemons.
	Room []int64
	// Admits says, class by class, whether labels and taints let its pods in.
	Admits []bool
}

// NewShop reads a problem. The error names the first constraint that simple planners cannot express.
func NewShop(p scheduling.Problem) (*Shop, error) {
	if err := Supported(p); err != nil {
		return nil, err
	}
	s := &Shop{}
	classes, rules, err := fold(p.Pods)
	if err != nil {
		return nil, err
	}
	s.Resources = columns(classes)
	for _, c := range classes {
		s.Classes = append(s.Classes, Class{Pods: c.pods, Requests: s.vector(c.requests)})
	}
	r := &reader{shop: s, classes: classes, rules: rules}
	for _, ds := range p.DaemonSets {
		r.daemons = append(r.daemons, schedulingtest.Admitted(&corev1.Pod{Spec: ds.Spec.Template.Spec}))
	}
	for _, pool := range p.NodePools {
		for m, node := range peer.Machines(&p, pool) {
			r.option(m, node)
		}
	}
	s.Options = undominated(r.options)
	return s, nil
}

// Supported returns an error for problems with constraints that the simple planners ignore.
func Supported(p scheduling.Problem) error {
	if len(p.Nodes) > 0 {
		return errors.New("running nodes are not modelled")
	}
	for _, pod := range p.Pods {
		a := pod.Spec.Affinity
		if len(pod.Spec.TopologySpreadConstraints) > 0 || a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) {
			return fmt.Errorf("pod %s: constraints between pods are not modelled", klog.KObj(pod))
		}
	}
	for _, pool := range p.NodePools {
		switch {
		case len(pool.Spec.Limits) > 0:
			return fmt.Errorf("pool %s: limits are not modelled", pool.Name)
		case pool.Spec.Weight != nil:
			return fmt.Errorf("pool %s: weights are not modelled", pool.Name)
		}
		for _, r := range pool.Spec.Template.Spec.Requirements {
			if r.MinValues != nil {
				return fmt.Errorf("pool %s: minValues are not modelled", pool.Name)
			}
		}
	}
	catalogs := []*instancetypes.Catalog{p.Catalog}
	for _, c := range p.PoolCatalogs {
		catalogs = append(catalogs, c)
	}
	for _, c := range catalogs {
		for t := range c.All() {
			for i := range t.Offerings {
				if t.Offerings[i].Counted() {
					return fmt.Errorf("%s: reservations are not modelled", t.Name)
				}
			}
		}
	}
	return nil
}

// columns are the resources that some class requests, in order of name.
func columns(classes []folded) []corev1.ResourceName {
	var names []corev1.ResourceName
	for _, c := range classes {
		for name, q := range c.requests {
			if !q.IsZero() && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// vector is a list of resources in the shop's columns.
func (s *Shop) vector(list corev1.ResourceList) []int64 {
	out := make([]int64, len(s.Resources))
	for i, name := range s.Resources {
		q := list[name]
		if out[i] = q.Value(); name == corev1.ResourceCPU {
			out[i] = q.MilliValue()
		}
	}
	return out
}

// undominated keeps the cheapest of the options that hold the same.
func undominated(options []Option) []Option {
	slices.SortFunc(options, func(a, b Option) int {
		return cmp.Or(cmp.Compare(a.Offering.Price, b.Offering.Price), cmp.Compare(a.InstanceType, b.InstanceType),
			cmp.Compare(a.Offering.Zone, b.Offering.Zone), cmp.Compare(a.NodePool, b.NodePool))
	})
	seen := map[string]bool{}
	return slices.DeleteFunc(options, func(o Option) bool {
		key := o.key()
		again := seen[key]
		seen[key] = true
		return again
	})
}

// key tells options apart that hold different things.
func (o *Option) key() string {
	var b []byte
	for _, n := range o.Room {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	for _, admits := range o.Admits {
		if admits {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	return string(b)
}

// Bin is a machine that is being filled.
type Bin struct {
	Option *Option
	Left   []int64
	// Loads are the pods in it, class by class.
	Loads []Load
}

// Load is a number of pods of a class.
type Load struct{ Class, Count int }

// NewBin is an empty machine.
func NewBin(o *Option) *Bin { return &Bin{Option: o, Left: append([]int64(nil), o.Room...)} }

// Put adds up to n pods of a class to a bin, as far as they fit, and returns their number.
func (s *Shop) Put(b *Bin, class, n int) int {
	requests := s.Classes[class].Requests
	if n = min(n, fits(requests, b.Left)); n == 0 || !b.Option.Admits[class] {
		return 0
	}
	for i, q := range requests {
		b.Left[i] -= q * int64(n)
	}
	b.Loads = append(b.Loads, Load{class, n})
	return n
}

// Least is the smallest request of the classes in each resource.
func (s *Shop) Least(classes []int) []int64 {
	least := slices.Repeat([]int64{math.MaxInt64}, len(s.Resources))
	for _, c := range classes {
		for i, q := range s.Classes[c].Requests {
			least[i] = min(least[i], q)
		}
	}
	return least
}

// Open returns the bins with room for least.
func Open(bins []*Bin, least []int64) []*Bin {
	return slices.DeleteFunc(bins, func(b *Bin) bool { return fits(least, b.Left) == 0 })
}

// Machines gives the bins their pods. Each class hands its pods out in order.
func (s *Shop) Machines(bins []*Bin) []peer.Machine {
	next := make([]int, len(s.Classes))
	out := make([]peer.Machine, 0, len(bins))
	for _, b := range bins {
		m := b.Option.Machine
		for _, l := range b.Loads {
			m.Pods = append(m.Pods, s.Classes[l.Class].Pods[next[l.Class]:next[l.Class]+l.Count]...)
			next[l.Class] += l.Count
		}
		out = append(out, m)
	}
	return out
}
