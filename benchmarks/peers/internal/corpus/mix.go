package corpus

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// PlainMix is the first class of Karpenter's benchmark, alone: pods of thirty sizes
// with one of seven labels that nothing selects.
func PlainMix(n int, seed uint64) []*corev1.Pod {
	d := newDice(seed)
	pods := make([]*corev1.Pod, 0, n)
	for i := range n {
		pods = append(pods, mixPod(d, i, "plain"))
	}
	return pods
}

// TopologyMix is Karpenter's benchmark: a fifth of the pods each of five classes, in
// this order: plain; spread over zones; spread over hosts, each pod with the label of
// one group and the constraint of another; zonal affinity to pods of the same label;
// anti-affinity to every other pod of the class on the same host.
func TopologyMix(n int, seed uint64) []*corev1.Pod {
	d := newDice(seed)
	classes := []struct {
		name  string
		shape func(d dice, p *corev1.Pod)
	}{
		{"plain", func(dice, *corev1.Pod) {}},
		{"zone-spread", func(d dice, p *corev1.Pod) { spread(p, corev1.LabelTopologyZone, group(d)) }},
		{"host-spread", func(d dice, p *corev1.Pod) { spread(p, corev1.LabelHostname, group(d)) }},
		{"zone-affinity", func(d dice, p *corev1.Pod) {
			p.Labels = map[string]string{"friends": group(d)}
			p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{ownKind(p, corev1.LabelTopologyZone)},
			}}
		}},
		{"host-anti-affinity", func(_ dice, p *corev1.Pod) {
			p.Labels = map[string]string{"app": "nginx"}
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{ownKind(p, corev1.LabelHostname)},
			}}
		}},
	}
	pods := make([]*corev1.Pod, 0, n)
	each := n / len(classes)
	for i := range n {
		class := classes[0] // what does not divide evenly is plain
		if each > 0 && i < each*len(classes) {
			class = classes[i/each]
		}
		pod := mixPod(d, i, class.name)
		class.shape(d, pod)
		pods = append(pods, pod)
	}
	return pods
}

func mixPod(d dice, i int, class string) *corev1.Pod {
	milliCPU := pick[int64](d, 100, 250, 500, 1000, 1500)
	mib := pick[int64](d, 100, 256, 512, 1024, 2048, 4096)
	return sized(fmt.Sprintf("%s-%06d", class, i), milliCPU, mib, schedulingtest.Label("group", group(d)))
}

func group(d dice) string { return pick(d, "a", "b", "c", "d", "e", "f", "g") }

func spread(p *corev1.Pod, key, group string) {
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew:           1,
		TopologyKey:       key,
		WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector:     &metav1.LabelSelector{MatchLabels: map[string]string{"group": group}},
	}}
}

// ownKind selects the pods that carry the pod's labels.
func ownKind(p *corev1.Pod, key string) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels}}
}
