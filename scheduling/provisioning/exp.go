package provisioning

import (
	"context"
	"fmt"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// Exp is an experiment.
type Exp struct {
	p     scheduling.Problem
	s     scheduling.Policy
	sched *binding.Scheduler
	queue []binding.Pod
	kinds map[string]int
	c     *compile.Compiler
}

func NewExp(p scheduling.Problem, s scheduling.Policy) (*Exp, error) {
	f, err := compile.NewFacts(&p, &s)
	if err != nil {
		return nil, err
	}
	c := f.Compile(false)
	e := &Exp{p: p, s: s, sched: binding.New(c), kinds: map[string]int{}, c: c}
	e.queue = e.sched.Queue()
	return e, nil
}

func (e *Exp) kind(l *scheduling.Launch) int {
	o := &l.Options[0]
	key := fmt.Sprint(l.NodePool, o.Key(), l.Labels)
	if k, ok := e.kinds[key]; ok {
		return k
	}
	for ti, t := range e.c.Templates {
		for _, x := range e.c.Offered[ti].List {
			if y := e.c.Offers.Offers[x.Offer].Option(); t.Pool.Name == l.NodePool && y.Key() == o.Key() {
				e.kinds[key] = e.sched.Machine(offers.Purchase{Template: ti, Offer: x.Offer})
				return e.kinds[key]
			}
		}
	}
	panic("no such offer")
}

// Realise returns price, extra launches.
func (e *Exp) Realise(plan *scheduling.Plan, seed uint64, batches int) (offerings.Price, []scheduling.Launch, int) {
	for i := range plan.Launches {
		e.kind(&plan.Launches[i])
	}
	r := e.sched.Begin(seed)
	rng := rand.New(rand.NewPCG(seed, 7))
	queue := append([]binding.Pod(nil), e.queue...)
	if seed > 0 {
		rng.Shuffle(len(queue), func(i, j int) { queue[i], queue[j] = queue[j], queue[i] })
	}
	price := offerings.Price(0)
	var extra []scheduling.Launch
	launches := plan.Launches
	rounds := 0
	for {
		order := rng.Perm(len(launches))
		for b := range batches {
			for i, at := range order {
				if i*batches/len(order) == b {
					r.Join(e.kind(&launches[at]))
					price += launches[at].Price
				}
			}
			queue = e.bind(r, queue)
		}
		if len(queue) == 0 {
			return price, extra, rounds
		}
		rounds++
		p := e.p
		p.Pods = nil
		for _, q := range queue {
			p.Pods = append(p.Pods, q.Pod)
		}
		s := e.s
		s.Effort = scheduling.EffortFast
		s.NoReasons = true
		next, err := Planner{Policy: s}.Plan(context.Background(), p)
		if err != nil {
			panic(err)
		}
		if len(next.Launches) == 0 || rounds > 20 {
			return price, extra, -len(queue)
		}
		launches = next.Launches
		extra = append(extra, launches...)
		batches = 1
	}
}

func (e *Exp) bind(r *binding.Run, queue []binding.Pod) (left []binding.Pod) {
	classes := make([]int32, len(queue))
	to := make([]int32, len(queue))
	for i := range queue {
		classes[i] = queue[i].Class
	}
	for i := range to {
		to[i] = -1
	}
	r.Bind(classes, to, nil)
	for i := range queue {
		if to[i] < 0 {
			left = append(left, queue[i])
		}
	}
	return left
}

// Inflated is the problem with larger requests.
func Inflated(p scheduling.Problem, percent float64) scheduling.Problem {
	out := p
	out.Pods = nil
	for _, pod := range p.Pods {
		q := pod.DeepCopy()
		for i := range q.Spec.Containers {
			for name, v := range q.Spec.Containers[i].Resources.Requests {
				if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
					v.SetMilli(int64(float64(v.MilliValue()) * (1 + percent/100)))
					q.Spec.Containers[i].Resources.Requests[name] = v
				}
			}
		}
		out.Pods = append(out.Pods, q)
	}
	return out
}

// Roomy is the problem with a daemon that takes c times the mean pod, weighted by size.
func (e *Exp) Roomy(c float64) scheduling.Problem {
	sum, sq := map[corev1.ResourceName]float64{}, map[corev1.ResourceName]float64{}
	for _, q := range e.queue {
		for _, k := range q.Pod.Spec.Containers {
			for n, v := range k.Resources.Requests {
				x := v.AsApproximateFloat64()
				sum[n] += x
				sq[n] += x * x
			}
		}
	}
	out := e.p
	req := corev1.ResourceList{}
	for _, n := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		req[n] = *resource.NewMilliQuantity(int64(1000*c*sq[n]/sum[n]), resource.DecimalSI)
	}
	ds := &appsv1.DaemonSet{}
	ds.Name, ds.Namespace = "slack", "default"
	ds.Spec.Template.Spec.Containers = []corev1.Container{{Name: "x", Image: "x", Resources: corev1.ResourceRequirements{Requests: req}}}
	ds.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	ds.Spec.Template.Labels = map[string]string{"a": "slack"}
	ds.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "slack"}}
	out.DaemonSets = append(append([]*appsv1.DaemonSet{}, e.p.DaemonSets...), ds)
	return out
}

// Shape keeps types whose memory per core is within a factor of that of all pods.
func (e *Exp) Shape(factor float64) []instancetypes.Filter {
	sum := map[corev1.ResourceName]float64{}
	for _, q := range e.queue {
		for _, k := range q.Pod.Spec.Containers {
			for n, v := range k.Resources.Requests {
				sum[n] += v.AsApproximateFloat64()
			}
		}
	}
	mean := sum[corev1.ResourceMemory] / sum[corev1.ResourceCPU]
	return []instancetypes.Filter{func(t *instancetypes.InstanceType, _ offerings.Offering) bool {
		a := t.Allocatable()
		cpu, mem := a[corev1.ResourceCPU], a[corev1.ResourceMemory]
		r := mem.AsApproximateFloat64() / cpu.AsApproximateFloat64() / mean
		return r <= factor && r >= 1/factor
	}}
}
