package search

import (
	"encoding/binary"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// lot is what all launches of a template with the same options have in common.
type lot struct {
	options      []scheduling.Option
	requirements []requirements.Selector
	labels       map[string]string
	daemons      []int64 // what they ask for on the first option
	relaxed      bool
	short        bool // the options fall short of the pool's minValues
}

// lot returns what a machine with these options is launched as.
func (d *decoder) lot(m *machine) *lot {
	name := binary.AppendUvarint(make([]byte, 0, 2*len(m.places)+2), uint64(m.template))
	for _, at := range m.places {
		name = binary.AppendUvarint(name, uint64(at))
	}
	if x, ok := d.lots[string(name)]; ok {
		return x
	}
	v := d.in.Templates[m.template]
	x := &lot{options: make([]scheduling.Option, 0, len(m.places)), labels: launchLabels(v), short: d.tooFew(m)}
	for _, at := range m.places {
		x.options = append(x.options, d.offerAt(m, at).Option())
	}
	if !x.short {
		x.requirements = d.launchRequirements(m, x.options)
		x.relaxed = d.relaxed(v, x.requirements)
		x.daemons = Daemons(d.in, d.buys(m))
	}
	d.lots[string(name)] = x
	return x
}

// launches appends the launches of a bundle.
func (d *decoder) launches(plan *scheduling.Plan, m *machine, numbers map[string]int) {
	m.places = d.options(m)
	d.steady(m)
	x := d.lot(m)
	if x.short {
		d.short = true
		for _, it := range m.items {
			d.solution.Unplaced[it.Class] += it.N * m.count
		}
		return
	}
	requests := slices.Clone(m.load)
	for r, n := range x.daemons {
		requests[r] += n
	}
	pool := d.in.Templates[m.template].Pool
	for range m.count {
		numbers[pool.Name]++
		l := scheduling.Launch{
			Name: pool.Name + "-" + strconv.Itoa(numbers[pool.Name]), NodePool: pool.Name,
			Options: slices.Clone(x.options), Price: x.options[0].Price, Pods: d.takePods(m.items),
			Requests: d.in.Table.List(requests), Labels: maps.Clone(x.labels),
			Taints:        copyTaints(pool.Spec.Template.Spec.Taints),
			StartupTaints: copyTaints(pool.Spec.Template.Spec.StartupTaints),
			Requirements:  copySelectors(x.requirements), MinValuesRelaxed: x.relaxed,
		}
		if len(l.StartupTaints) == 0 {
			l.StartupTaints = nil
		}
		plan.Launches = append(plan.Launches, l)
	}
	Account(d.in, &plan.Summary, d.buys(m), m.count, x.daemons, m.load)
}

// takePods hands out the next pods of each class. It returns their names, sorted.
func (d *decoder) takePods(items []model.Item) []string {
	n := int64(0)
	for _, it := range items {
		n += it.N * size(d.packing.Parts[it.Class].Portions)
	}
	runs := make([][]*corev1.Pod, 0, len(items))
	length := 0
	for _, it := range items {
		for _, p := range d.packing.Parts[it.Class].Portions {
			run := d.nameAssigner.take(it.Class, p, it.N)
			if len(run) == 0 {
				continue
			}
			runs = append(runs, run)
			for _, pod := range run {
				length += len(podspec.NamespaceOf(pod)) + len("/") + len(pod.Name)
			}
		}
	}
	// Those of a class stand in name order, so that little is left to be sorted.
	slices.SortFunc(runs, func(a, b []*corev1.Pod) int { return podspec.ComparePods(a[0], b[0]) })
	return names(runs, n, length)
}

// names are the names of n pods, which take so many bytes, sorted. They share their memory.
func names(runs [][]*corev1.Pod, n int64, length int) []string {
	var all strings.Builder
	all.Grow(length)
	pods := make([]string, 0, n)
	for _, run := range runs {
		for _, pod := range run {
			from := all.Len()
			all.WriteString(podspec.NamespaceOf(pod))
			all.WriteByte('/')
			all.WriteString(pod.Name)
			pods = append(pods, all.String()[from:])
		}
	}
	slices.Sort(pods)
	return pods
}

// launchLabels are the labels that the pool puts on a machine. Well-known labels
// that the pool does not set are the provider's to put there.
func launchLabels(v *offers.Template) map[string]string {
	labels := maps.Clone(v.Labels)
	own := offers.PoolLabels(v.Pool)
	for key := range labels {
		if _, set := own[key]; !set && wellKnownKey(key) {
			delete(labels, key)
		}
	}
	return labels
}

func copyTaints(taints []corev1.Taint) []corev1.Taint {
	out := make([]corev1.Taint, 0, len(taints))
	for i := range taints {
		out = append(out, *taints[i].DeepCopy())
	}
	return out
}

// copySelectors copies selectors such that no copy shares anything with another that
// could be written. Their values stand side by side, each list with no room to grow.
func copySelectors(list []requirements.Selector) []requirements.Selector {
	n := 0
	for i := range list {
		n += len(list[i].Values)
	}
	values := make([]string, 0, n)
	out := slices.Clone(list)
	for i := range out {
		s := &out[i]
		if s.Values != nil {
			from := len(values)
			values = append(values, s.Values...)
			s.Values = values[from:len(values):len(values)]
		}
		if s.MinValues != nil {
			floor := *s.MinValues
			s.MinValues = &floor
		}
	}
	return out
}
