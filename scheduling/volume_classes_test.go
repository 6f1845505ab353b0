package scheduling

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// claimed is a pod with a volume for each claim.
func claimed(name string, claims ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
	for _, c := range claims {
		v := corev1.Volume{Name: c}
		v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c}
		pod.Spec.Volumes = append(pod.Spec.Volumes, v)
	}
	return pod
}

func boundClaim(name, volume string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{bindCompletedAnnotation: "yes"}},
		Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: volume},
	}
}

func waitingClaim(name, class string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class}}
}

func waitingClass(name string, topologies ...corev1.TopologySelectorTerm) *storagev1.StorageClass {
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, VolumeBindingMode: &mode, Provisioner: ebsDriver, AllowedTopologies: topologies}
}

// volumeIn is a volume with one term of node affinity for each expression.
func volumeIn(name string, terms ...corev1.NodeSelectorRequirement) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: ebsDriver, VolumeHandle: "handle-" + name}
	v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{}}
	for _, e := range terms {
		v.Spec.NodeAffinity.Required.NodeSelectorTerms = append(v.Spec.NodeAffinity.Required.NodeSelectorTerms, nodeExpressions(e))
	}
	return v
}

// folded counts the classes and groups that the pods of a problem fall into.
func folded(p *Problem) (classes, groups int) {
	c := compile(p, &Policy{}, false)
	return len(c.classes.classes), len(c.classes.groups)
}

func TestClassesOfPodsWithVolumes(t *testing.T) {
	limit := int32(25)
	limits := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	limits.Spec.Drivers = []storagev1.CSINodeDriver{{Name: ebsDriver, Allocatable: &storagev1.VolumeNodeResources{Count: &limit}}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	for _, tt := range []struct {
		name            string
		fill            func(p *Problem, i int)
		classes, groups int
	}{
		{"the pods of a StatefulSet are one class as long as their claims wait", func(p *Problem, i int) {
			p.Claims = append(p.Claims, waitingClaim(fmt.Sprintf("data-%d", i), "waits"))
			p.Pods = append(p.Pods, claimed(fmt.Sprintf("db-%d", i), fmt.Sprintf("data-%d", i)))
		}, 1, 1},
		{"classes of the same topologies are alike", func(p *Problem, i int) {
			p.Claims = append(p.Claims, waitingClaim(fmt.Sprintf("data-%d", i), []string{"zonal", "zonal-too"}[i%2]))
			p.Pods = append(p.Pods, claimed(fmt.Sprintf("db-%d", i), fmt.Sprintf("data-%d", i)))
		}, 1, 1},
		{"a class for each zone once they are bound", func(p *Problem, i int) {
			p.Claims = append(p.Claims, boundClaim(fmt.Sprintf("data-%d", i), fmt.Sprintf("v-%d", i)))
			p.Volumes = append(p.Volumes, volumeIn(fmt.Sprintf("v-%d", i), nodeExpr("zone", "In", string(rune('a'+i%3)))))
			p.Pods = append(p.Pods, claimed(fmt.Sprintf("db-%d", i), fmt.Sprintf("data-%d", i)))
		}, 3, 3},
		{"the order of terms and values does not matter", func(p *Problem, i int) {
			p.Claims = append(p.Claims, boundClaim(fmt.Sprintf("data-%d", i), fmt.Sprintf("v-%d", i)))
			terms := []corev1.NodeSelectorRequirement{nodeExpr("zone", "In", "a", "b"), nodeExpr("zone", "In", "c")}
			if i%2 == 1 {
				terms = []corev1.NodeSelectorRequirement{nodeExpr("zone", "In", "c"), nodeExpr("zone", "In", "b", "a"), nodeExpr("zone", "In", "c")}
			}
			p.Volumes = append(p.Volumes, volumeIn(fmt.Sprintf("v-%d", i), terms...))
			p.Pods = append(p.Pods, claimed(fmt.Sprintf("db-%d", i), fmt.Sprintf("data-%d", i)))
		}, 1, 1},
		{"one volume or two", func(p *Problem, i int) {
			a, b := fmt.Sprintf("data-%d", i), fmt.Sprintf("log-%d", i)
			p.Claims = append(p.Claims, waitingClaim(a, "zonal"), waitingClaim(b, "zonal"))
			p.Pods = append(p.Pods, claimed(fmt.Sprintf("db-%d", i), []string{a, b}[:1+i%2]...))
		}, 2, 1},
		{"a shared volume tells groups apart", func(p *Problem, i int) {
			name := fmt.Sprintf("common-%d", i%2)
			if i < 2 {
				p.Claims = append(p.Claims, waitingClaim(name, "waits"))
			}
			p.Pods = append(p.Pods, claimed(fmt.Sprintf("web-%d", i), name))
		}, 2, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &Problem{Nodes: []*corev1.Node{node}, CSINodes: []*storagev1.CSINode{limits}}
			zone := corev1.TopologySelectorTerm{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: "zone", Values: []string{"a", "b"}}}}
			p.StorageClasses = []*storagev1.StorageClass{waitingClass("waits"), waitingClass("zonal", zone), waitingClass("zonal-too", zone)}
			for i := range 12 {
				tt.fill(p, i)
			}
			require.NoError(t, p.Validate())
			classes, groups := folded(p)
			assert.Equal(t, tt.classes, classes, "classes")
			assert.Equal(t, tt.groups, groups, "groups")
		})
	}
}

// Resources are added only for limits that somebody states.
func TestAttachmentsAreResourcesWhereSomebodyLimitsThem(t *testing.T) {
	p := &Problem{
		Pods:           []*corev1.Pod{claimed("a", "data")},
		Claims:         []*corev1.PersistentVolumeClaim{waitingClaim("data", "waits")},
		StorageClasses: []*storagev1.StorageClass{waitingClass("waits")},
		Nodes:          []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n"}}},
	}
	assert.Equal(t, []corev1.ResourceName{corev1.ResourcePods}, compile(p, &Policy{}, false).table.names)
	limit := int32(3)
	limits := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	limits.Spec.Drivers = []storagev1.CSINodeDriver{{Name: ebsDriver, Allocatable: &storagev1.VolumeNodeResources{Count: &limit}}}
	p.CSINodes = []*storagev1.CSINode{limits}
	c := compile(p, &Policy{}, false)
	assert.Equal(t, []corev1.ResourceName{"attachable-volumes-csi-ebs.csi.aws.com", corev1.ResourcePods}, c.table.names)
	assert.Equal(t, int64(3), c.nodes[0].room[0])
	assert.Equal(t, []int64{0, 1}, c.unattached(c.classes.classes[0].requests))
	assert.Equal(t, []corev1.ResourceName{corev1.ResourcePods}, c.requestable())
	// A node that is being removed limits nobody.
	p.Nodes[0].Spec.Taints = []corev1.Taint{{Key: DisruptedTaint, Effect: corev1.TaintEffectNoSchedule}}
	assert.Equal(t, []corev1.ResourceName{corev1.ResourcePods}, compile(p, &Policy{}, false).table.names)
}

// Pods without claims cost nothing.
func TestNoVolumesNoIndex(t *testing.T) {
	scratch := corev1.Volume{Name: "scratch"}
	scratch.EmptyDir = &corev1.EmptyDirVolumeSource{}
	pod := claimed("a")
	pod.Spec.Volumes = []corev1.Volume{scratch}
	running := claimed("b", "data")
	running.Spec.NodeName = "n"
	x := newVolumeIndex(&Problem{Pods: []*corev1.Pod{pod, running}}, []*corev1.Pod{running}, nil)
	assert.Nil(t, x)
	assert.Zero(t, testing.AllocsPerRun(100, func() { _ = x.of(pod) }))
	assert.Empty(t, x.of(running))
}

// P137: alternatives of affinity and of volumes are combined, without those that
// contradict themselves.
func TestAlternatives(t *testing.T) {
	terms := func(e ...corev1.NodeSelectorRequirement) []term {
		var out []term
		for i := range e {
			out = append(out, term{labels: []expression{newLabelExpression(e[i])}})
		}
		return out
	}
	described := func(c *constraint) []string {
		var out []string
		for _, alternative := range c.alternatives() {
			text := ""
			for i := range alternative {
				text += alternative[i].Short() + ";"
			}
			out = append(out, text)
		}
		slices.Sort(out)
		return out
	}
	c := asking(expr("zone", "In", "a"), expr("zone", "In", "b"))
	assert.Equal(t, []string{"zone In [a];", "zone In [b];"}, described(c))
	c.volumes = [][]term{terms(expr("zone", "In", "b", "c"), expr("rack", "In", "1"))}
	assert.Equal(t, []string{"zone In [a];rack In [1];", "zone In [b];rack In [1];", "zone In [b];zone In [b c];"}, described(c))
	c.volumes = append(c.volumes, terms(expr("zone", "NotIn", "a", "b")))
	assert.Empty(t, described(c))

	wide := &constraint{}
	for i := range 10 {
		wide.volumes = append(wide.volumes, terms(expr(fmt.Sprint("x", i), "In", "1"), expr(fmt.Sprint("y", i), "In", "1")))
	}
	assert.Len(t, wide.alternatives(), maxAlternatives)

	named := &constraint{volumes: [][]term{{{fields: []expression{newExpression(metadataName, "In", []string{"n"})}}}}}
	assert.Empty(t, named.alternatives())
}

// volumesMatch is a conjunction over volumes of disjunctions over terms.
func TestVolumesMatchIsWhatItSays(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for range 500 {
		labels := map[string]string{"zone": string(rune('a' + r.IntN(3))), "rack": fmt.Sprint(r.IntN(2))}
		c := &constraint{}
		want := true
		for range r.IntN(3) {
			var terms []term
			some := false
			for range r.IntN(3) {
				zone, rack := string(rune('a'+r.IntN(3))), fmt.Sprint(r.IntN(2))
				terms = append(terms, term{labels: []expression{newLabelExpression(expr("zone", "In", zone)), newLabelExpression(expr("rack", "In", rack))}})
				some = some || labels["zone"] == zone && labels["rack"] == rack
			}
			c.volumes = append(c.volumes, terms)
			want = want && some
		}
		require.Equal(t, want, c.volumesMatch("n", labels), "%v %v", labels, placesText(c))
	}
}

func TestPlacesText(t *testing.T) {
	x := &volumeIndex{places: map[string]*place{}}
	place := func(v *corev1.PersistentVolume) []term {
		return x.place(affinityTerms(v.Spec.NodeAffinity.Required)).terms
	}
	c := &constraint{volumes: [][]term{
		place(volumeIn("a", nodeExpr("topology.ebs.csi.aws.com/zone", "In", "a"), nodeExpr("zone", "In", "b"))),
		place(volumeIn("b", nodeExpr("rack", "Exists"))),
	}}
	assert.Equal(t, "only where zone In [b], or topology.ebs.csi.aws.com/zone In [a], and where rack Exists", placesText(c))
	c.volumes = append(c.volumes, nil)
	assert.Equal(t, "nowhere", placesText(c))
}

// statefulSets are pods with one volume each, some bound to a zone and some not.
func statefulSets(pods int) *Problem {
	p := &Problem{StorageClasses: []*storagev1.StorageClass{waitingClass("waits")}}
	for i := range pods {
		name := fmt.Sprintf("data-%d", i)
		if i%2 == 0 {
			p.Claims = append(p.Claims, waitingClaim(name, "waits"))
		} else {
			p.Claims = append(p.Claims, boundClaim(name, name))
			p.Volumes = append(p.Volumes, volumeIn(name, nodeExpr("topology.kubernetes.io/zone", "In", "us-east-1"+string(rune('a'+i%3)))))
		}
		p.Pods = append(p.Pods, claimed(fmt.Sprintf("db-%d", i), name))
	}
	return p
}

func TestManyClaimsFoldIntoFewClasses(t *testing.T) {
	classes, groups := folded(statefulSets(5000))
	assert.Equal(t, 4, classes)
	assert.Equal(t, 4, groups)
}

func BenchmarkClaims(b *testing.B) {
	p := statefulSets(5000)
	b.ReportAllocs()
	for b.Loop() {
		c := newClassifier(newResourceTable())
		c.volumes = newVolumeIndex(p, nil, nil)
		m := newMoulder(p, &Policy{})
		for _, pod := range p.Pods {
			c.class(pod, m.moulds[m.read(pod)], 0, 0)
		}
	}
}
