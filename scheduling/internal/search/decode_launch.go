package search

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// launchWriter writes machines as launches, and hands out the pods that they hold.
type launchWriter struct {
	in    *instance.Instance
	sales *saleReader
	parts []instance.Part
	names *nameAssigner
	lots  map[string]*lot
}

// lot is the part that all launches of a template with the same options have in common.
type lot struct {
	options      []scheduling.LaunchOption
	requirements []requirements.Selector
	labels       map[string]string
	daemons      []int64 // sum of their requests on the first option
	relaxed      bool
	short        bool // the options fall short of the pool's minValues
}

// lot is the lot of a machine with the options that are listed for it.
func (w *launchWriter) lot(m *machine) *lot {
	name := binary.AppendUvarint(make([]byte, 0, 2*len(m.places)+2), uint64(m.template))
	for _, at := range m.places {
		name = binary.AppendUvarint(name, uint64(at))
	}
	if x, ok := w.lots[string(name)]; ok {
		return x
	}
	v := w.in.Templates[m.template]
	x := &lot{options: make([]scheduling.LaunchOption, 0, len(m.places)), labels: launchLabels(v), short: w.sales.tooFew(m)}
	for _, at := range m.places {
		x.options = append(x.options, w.sales.offerAt(m, at).Option())
	}
	if !x.short {
		x.requirements = w.sales.launchRequirements(m, x.options)
		x.relaxed = w.sales.relaxed(v, x.requirements)
		x.daemons = Daemons(w.in, w.sales.buys(m))
	}
	w.lots[string(name)] = x
	return x
}

// takePods hands out the next pods of each class. It returns their names, sorted.
func (w *launchWriter) takePods(items []model.Item) []string {
	n := int64(0)
	for _, it := range items {
		n += it.N * size(w.parts[it.Class].Members)
	}
	runs := make([][]*corev1.Pod, 0, len(items))
	length := 0
	for _, it := range items {
		for _, p := range w.parts[it.Class].Members {
			run := w.names.take(it.Class, p, it.N)
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

// wellKnownKey reports whether providers give a label to nodes.
func wellKnownKey(key string) bool { return requirements.WellKnown().Has(key) }
