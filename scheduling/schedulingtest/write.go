package schedulingtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Scenario is the problem in the language of scenario files, up to a solve whose
// output is left empty: the quickest way from a failing problem, once [Minimise] has
// made it small, to a scenario. Parts of the problem that the language has no words
// for are left out: labels of offerings, the record of unavailable offerings, and what
// nodes have beyond what is allocatable.
func Scenario(p scheduling.Problem) string {
	var w writer
	for name, c := range sortedCatalogs(p) {
		w.command("catalog", name, func() {
			for t := range c.All() {
				w.line(typeWords(t))
			}
		})
	}
	for _, pool := range p.NodePools {
		w.line(poolWords(pool))
		w.out.WriteString(separator + "\n\n")
	}
	if len(p.Nodes) > 0 {
		w.command("nodes", "", func() {
			for _, n := range p.Nodes {
				w.line(nodeWords(n))
			}
		})
	}
	if len(p.Running) > 0 {
		w.command("running", "", func() { w.pods(p.Running) })
	}
	if len(p.DaemonSets) > 0 {
		w.command("daemonset", "", func() {
			for _, d := range p.DaemonSets {
				w.line(append([]string{d.Name}, specWords(d.Namespace, nil, &d.Spec.Template.Spec)...))
			}
		})
	}
	w.surroundings(&p)
	w.command("pods", "", func() { w.pods(p.Pods) })
	w.out.WriteString("solve\n" + separator + "\n")
	return w.out.String()
}

type writer struct{ out strings.Builder }

func (w *writer) command(name, pool string, body func()) {
	w.out.WriteString(name)
	if pool != "" {
		w.out.WriteString(" pool=" + pool)
	}
	w.out.WriteString("\n")
	body()
	w.out.WriteString(separator + "\n\n")
}

func (w *writer) line(words []string) { w.out.WriteString(strings.Join(words, " ") + "\n") }

func (w *writer) pods(pods []*corev1.Pod) {
	for _, p := range pods {
		words := append([]string{p.Name}, specWords(p.Namespace, p.Labels, &p.Spec)...)
		if p.Spec.NodeName != "" {
			words = append(words, "on="+p.Spec.NodeName)
		}
		for _, o := range p.OwnerReferences {
			if o.Kind == "DaemonSet" {
				words = append(words, "daemon="+o.Name)
			} else {
				words = append(words, "owner="+ownerWord(o))
			}
		}
		if p.DeletionTimestamp != nil {
			words = append(words, "deleting")
		}
		if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			words = append(words, "done")
		}
		w.line(words)
	}
}

func typeWords(t *instancetypes.InstanceType) []string {
	words := append([]string{t.Name}, amountWords(t.Capacity)...)
	labels := maps.Clone(t.Labels)
	delete(labels, corev1.LabelInstanceTypeStable)
	for short, key := range map[string]string{"arch": corev1.LabelArchStable, "os": corev1.LabelOSStable} {
		if v := labels[key]; v != "amd64" && v != "linux" {
			words = append(words, short+"="+v)
		}
		delete(labels, key)
	}
	slices.Sort(words[1:])
	if len(labels) > 0 {
		words = append(words, pairs("label", labels))
	}
	if overhead := t.Overhead.Total(); len(overhead) > 0 {
		words = append(words, "reserve=("+strings.Join(amountWords(overhead), " ")+")")
	}
	for _, o := range t.Offerings {
		words = append(words, offeringWord(o))
	}
	return words
}

func offeringWord(o offerings.Offering) string {
	text := fmt.Sprintf("%s@%s=%v", o.CapacityType, o.Zone, o.Price)
	if o.CapacityType == offerings.Reserved {
		text += fmt.Sprintf("x%d#%s", o.ReservationCount, o.ReservationID)
	}
	if o.InterruptionRate > 0 {
		text += fmt.Sprintf("~%g%%", o.InterruptionRate*100)
	}
	if o.Unavailable {
		text += "!"
	}
	if len(o.Capacity) > 0 {
		text += "+(" + strings.Join(amountWords(o.Capacity), " ") + ")"
	}
	if len(o.Overhead) > 0 {
		text += "-(" + strings.Join(amountWords(o.Overhead), " ") + ")"
	}
	return text
}

// sortedCatalogs yields the common catalog first, then those of pools by name.
func sortedCatalogs(p scheduling.Problem) func(func(string, *instancetypes.Catalog) bool) {
	catalogs := catalogsOf(p)
	return func(yield func(string, *instancetypes.Catalog) bool) {
		for _, name := range slices.Sorted(maps.Keys(catalogs)) {
			if !yield(name, catalogs[name]) {
				return
			}
		}
	}
}

// amountWords writes a resource list, the names in order.
func amountWords(list corev1.ResourceList) []string {
	words := make([]string, 0, len(list))
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		words = append(words, fmt.Sprintf("%s=%s", shortResource(name), q.String()))
	}
	return words
}

// shortResource is the inverse of resourceName.
func shortResource(name corev1.ResourceName) string {
	switch name {
	case corev1.ResourceEphemeralStorage:
		return "disk"
	case gpuResource:
		return "gpu"
	}
	return string(name)
}

// pairs writes name=(KEY=VALUE…).
func pairs(name string, m map[string]string) string {
	var words []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		words = append(words, key+"="+m[key])
	}
	return name + "=(" + strings.Join(words, " ") + ")"
}
