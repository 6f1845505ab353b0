package lint

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

const largestCut = 0.25 // of a request that is called a slightly smaller one

// asked is the key of equal requests: pods of one workload that request as much of a resource.
type asked struct {
	workload string
	resource corev1.ResourceName
	request  int64 // in millicores or bytes
}

// smaller is a smaller request that may fit better.
type smaller struct {
	asked

	to    int64
	price offerings.Price // of the machines that the pods are on
}

// sizes are requests that force a size up. Where one more pod of a workload would fit onto its machine,
// or all of them onto a cheaper one, if it requested a little less, that is tried.
func (s *Subject) sizes(ctx context.Context, t *trials) ([]Finding, error) {
	var out []Finding
	for _, x := range s.candidates(&t.problem, t.plan) {
		trial := t.problem
		changed, of := s.with(trial.Pods, &x)
		if trial.Pods = changed; of.container == "" {
			continue
		}
		saving, err := t.try(ctx, trial)
		if err != nil {
			return nil, err
		}
		if saving.perHour == 0 {
			continue
		}
		out = append(out, Finding{
			Severity: Info, Code: RequestSize, Object: x.workload, Field: fmt.Sprintf("spec.containers[%s].resources.requests.%s", of.container, x.resource),
			Value: x.text(of.from), SavingPerHour: saving.perHour, SavingProven: saving.proven,
			Message: "is slightly above the size that fits on cheaper nodes: rebuilt from scratch, the cluster costs " + figures.Monthly(saving.perHour) + " a month more for it",
			Advice:  fmt.Sprintf("request %s, if that is enough (tried)", x.text(of.to)),
		})
	}
	return out, nil
}

// types returns findings for NodePools whose requirements exclude instance types with which the pods
// would cost less; only the NodePools with the highest price are tried.
func (s *Subject) types(ctx context.Context, t *trials) ([]Finding, error) {
	var out []Finding
	spent := map[string]offerings.Price{}
	for i := range t.plan.Launches {
		l := &t.plan.Launches[i]
		spent[l.NodePool] = offerings.Sum(spent[l.NodePool], l.Price)
	}
	pools := slices.Clone(t.problem.NodePools)
	slices.SortStableFunc(pools, func(x, y *scheduling.NodePool) int { return cmp.Compare(spent[y.Name], spent[x.Name]) })
	for _, pool := range pools[:min(len(pools), mostTried)] {
		known := s.sales.Labels(t.problem.CatalogOf(pool.Name))
		var kept []requirements.Selector
		var left []string
		for _, r := range pool.Spec.Template.Spec.Requirements {
			switch key := requirements.NormalizeKey(r.Key); key {
			case corev1.LabelArchStable, corev1.LabelOSStable, corev1.LabelTopologyRegion, offerings.ZoneLabel, offerings.ZoneIDLabel, offerings.CapacityTypeLabel:
				kept = append(kept, r)
			default:
				if known[key] {
					left = append(left, key)
				} else {
					kept = append(kept, r)
				}
			}
		}
		if len(left) == 0 {
			continue
		}
		wider := pool.DeepCopy()
		wider.Spec.Template.Spec.Requirements = kept
		trial := t.problem
		trial.NodePools = slices.Clone(t.problem.NodePools)
		trial.NodePools[slices.Index(trial.NodePools, pool)] = wider
		if len(s.overlapping(trial.NodePools)) > len(s.overlapping(t.problem.NodePools)) {
			continue // because the advice would lead to the finding that NodePools overlap
		}
		saving, err := t.try(ctx, trial)
		if err != nil {
			return nil, err
		}
		if saving.perHour > 0 {
			out = append(out, s.excluding(pool.Name, left, saving))
		}
	}
	return out, nil
}

// excluding is the finding that requirements of a NodePool, given by their label keys, exclude instance types by which the
// cluster would cost less. The advice names the types that the nodes of the pool would be of.
func (s *Subject) excluding(pool string, keys []string, saving difference) Finding {
	types := map[string]int{}
	for i := range saving.plan.Launches {
		if l := &saving.plan.Launches[i]; l.NodePool == pool {
			types[fmt.Sprintf("%s %s", l.Options[0].InstanceType, l.Options[0].CapacityType)]++
		}
	}
	f := Finding{Severity: Info, Code: NodePoolTypes, SavingPerHour: saving.perHour, SavingProven: saving.proven}
	f.Object, f.Field, f.Value = s.requirementsOf(pool, keys...)
	f.Message = "exclude cheaper instance types: rebuilt from scratch without this requirement"
	f.Advice = "remove these requirements"
	if part, ok := s.ComputeClasses[pool]; ok && len(part.Fields) == 0 {
		f.Value = "ScaleUpAnyway"
		f.Message = "leaves the machine series to GKE: rebuilt from scratch with all machine types"
		f.Advice = "append a priority with these machine types to spec.priorities"
	}
	f.Message += ", the cluster costs " + figures.Monthly(saving.perHour) + " a month less"
	f.Advice += ", if these nodes are acceptable: " + figures.Summarise(types, 4) + " (tried)"
	return f
}

// text writes an amount of the resource.
func (a *asked) text(n int64) string {
	if a.resource == corev1.ResourceCPU {
		return resource.NewMilliQuantity(n, resource.DecimalSI).String()
	}
	return resource.NewQuantity(n, resource.BinarySI).String()
}

// candidates are the smaller requests to try: for each workload and resource the smallest
// reduction, those on the most expensive machines first.
func (s *Subject) candidates(p *scheduling.Problem, plan *scheduling.Plan) []smaller {
	requests, found := map[string]corev1.ResourceList{}, map[asked]*smaller{}
	for i, list := range provisioning.PodRequests(p.Pods) {
		requests[scheduling.PodName(p.Pods[i])] = list
	}
	sold := map[string]*instancetypes.Catalog{}
	for _, pool := range p.NodePools {
		sold[pool.Name] = s.sells(pool)
	}
	for i := range plan.Launches {
		l := &plan.Launches[i]
		node, err := l.Node(l.Name, &l.Options[0], p.CatalogOf(l.NodePool))
		if err != nil {
			continue // must not happen: the catalog has the types of the plan's launches
		}
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			over := overCheaper(sold[l.NodePool], l, name)
			free := figures.Units(node.Status.Allocatable, name) - figures.Units(l.Requests, name)
			on := map[asked]int64{}
			for _, pod := range l.Pods {
				if n := figures.Units(requests[pod], name); n > 0 {
					on[asked{s.Workload(pod), name, n}]++
				}
			}
			for a, k := range on {
				to := (k*a.request + free) / (k + 1) // for one more
				if over > 0 {
					to = max(to, a.request-(over+k-1)/k) // for the cheaper machine
				}
				to = rounded(name, to)
				if to <= 0 || to >= a.request || float64(a.request-to) > largestCut*float64(a.request) {
					continue
				}
				if found[a] == nil {
					found[a] = &smaller{asked: a}
				}
				found[a].to = max(found[a].to, to)
				found[a].price = offerings.Sum(found[a].price, l.Price)
			}
		}
	}
	var out []smaller
	for _, x := range found {
		out = append(out, *x)
	}
	slices.SortFunc(out, func(a, b smaller) int {
		return cmp.Or(cmp.Compare(b.price, a.price), cmp.Compare(a.workload, b.workload), cmp.Compare(a.resource, b.resource), cmp.Compare(a.request, b.request))
	})
	return out[:min(len(out), mostTried)]
}

// overCheaper is the least amount of a resource by which the pods of a launch exceed a cheaper machine
// that has enough of every other resource; 0 where there is none.
func overCheaper(sold *instancetypes.Catalog, l *scheduling.Launch, name corev1.ResourceName) int64 {
	least := int64(0)
	for t := range sold.All() {
		if !slices.ContainsFunc(t.Offerings, func(o offerings.Offering) bool { return o.Price < l.Price }) {
			continue
		}
		room := t.Allocatable()
		over, fits := figures.Units(l.Requests, name)-figures.Units(room, name), true
		for other, q := range l.Requests {
			if has := room[other]; other != name && has.Cmp(q) < 0 {
				fits = false
			}
		}
		if fits && over > 0 && (least == 0 || over < least) {
			least = over
		}
	}
	return least
}

// rounded is an amount rounded down to one that people write.
func rounded(name corev1.ResourceName, n int64) int64 {
	unit := int64(10)
	if name == corev1.ResourceMemory {
		unit = 16 << 20
	}
	return n / unit * unit
}

// with returns the pods with some of them changed to request less: the difference is taken off the
// container that requests the most, which is returned. No pod is changed where its containers' requests do
// not make up the pod's request.
func (s *Subject) with(pods []*corev1.Pod, x *smaller) (out []*corev1.Pod, of cut) {
	out = slices.Clone(pods)
	for i, list := range provisioning.PodRequests(pods) {
		if figures.Units(list, x.resource) != x.request || s.Workload(scheduling.PodName(pods[i])) != x.workload {
			continue
		}
		pod := pods[i].DeepCopy()
		containers := pod.Spec.Containers
		largest := slices.MaxFunc(containers, func(a, b corev1.Container) int {
			return cmp.Compare(figures.Units(a.Resources.Requests, x.resource), figures.Units(b.Resources.Requests, x.resource))
		})
		for j := range containers {
			c := &containers[j]
			own := figures.Units(c.Resources.Requests, x.resource)
			if c.Name != largest.Name || own <= x.request-x.to {
				continue
			}
			less := own - (x.request - x.to)
			of = cut{c.Name, own, less}
			q := resource.NewQuantity(less, resource.BinarySI)
			if x.resource == corev1.ResourceCPU {
				q = resource.NewMilliQuantity(less, resource.DecimalSI)
			}
			c.Resources.Requests[x.resource] = *q
		}
		if got := provisioning.PodRequests([]*corev1.Pod{pod}); figures.Units(got[0], x.resource) != x.to {
			return pods, cut{}
		}
		out[i] = pod
	}
	return out, of
}

// cut is by how much the request of a container becomes smaller.
type cut struct {
	container string
	from, to  int64
}
