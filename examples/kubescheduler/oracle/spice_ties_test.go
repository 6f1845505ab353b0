package oracle_test

import (
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// spicedTies is a random problem with topology terms and corner cases: those of spice, and those of terms and volumes.
func spicedTies(seed uint64, size st.Size) scheduling.Problem {
	size.TopologyTerms = true
	p := spiced(seed, size)
	s := spice{Rand: rand.New(rand.NewPCG(seed, 0x71e5)), problem: &p} //nolint:gosec // a test
	for _, pod := range p.Pods {
		if s.oneIn(10) {
			s.tie(pod)
		}
	}
	for _, pod := range p.Running {
		if s.oneIn(6) {
			s.tie(pod)
		}
	}
	for _, v := range p.Volumes {
		if s.oneIn(4) {
			s.volume(v)
		}
	}
	for _, c := range p.StorageClasses {
		if s.oneIn(4) {
			s.class(c)
		}
	}
	return onlyAdmitted(p)
}

// oddKey is a topology key that terms rarely have.
func (s spice) oddKey() string {
	return choose(s, corev1.LabelFailureDomainBetaZone, corev1.LabelTopologyRegion, corev1.LabelInstanceTypeStable, corev1.LabelInstanceType,
		scheduling.NodePoolLabel, scheduling.InitializedLabel, "karpenter.k8s.aws/instance-family", "example.com/nobody",
		"topology.ebs.csi.aws.com/zone", "topology.k8s.aws/zone-id", corev1.LabelOSStable, "example.com/level")
}

// tie gives a pod a topology term with an unusual key or with unusual fields.
func (s spice) tie(pod *corev1.Pod) {
	app := pod.Labels["app"]
	of := choose(s, st.Of("app", app), st.OfAll(st.Exists("app")), st.OfAll(st.NotIn("app", app)),
		st.OfAll(st.In("tier", "front"), st.DoesNotExist("version")))
	odd := st.Pod("odd", choose(s,
		st.Spread(s.oddKey(), of),
		st.Spread(s.oddKey(), of, st.Soft()),
		st.Near(s.oddKey(), of),
		st.Apart(s.oddKey(), of),
		st.Apart(s.oddKey(), of, st.Weight(5)),
		st.Near(corev1.LabelHostname, of, st.InNamespaces("nowhere")),
		st.Apart(offerings.ZoneLabel, of, st.InNamespaces("shop", "nowhere")),
		st.Near(offerings.ZoneLabel, of, st.InNamespacesOf(st.DoesNotExist("team"))),
		st.Spread(offerings.ZoneLabel, of, st.Skew(5), st.MinDomains(7)),
	)).Spec
	pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, odd.TopologySpreadConstraints...)
	if odd.Affinity == nil {
		return
	}
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	if a := odd.Affinity.PodAffinity; a != nil && pod.Spec.Affinity.PodAffinity == nil {
		pod.Spec.Affinity.PodAffinity = a
	}
	if a := odd.Affinity.PodAntiAffinity; a != nil && pod.Spec.Affinity.PodAntiAffinity == nil {
		pod.Spec.Affinity.PodAntiAffinity = a
	}
}

// volume says in other words where a volume can be.
func (s spice) volume(v *corev1.PersistentVolume) {
	zone := choose(s, "zone-a", "zone-b")
	terms := func(options ...st.VolumeOption) {
		v.Spec.NodeAffinity = st.Volume("odd", options...).Spec.NodeAffinity
	}
	switch s.IntN(8) {
	case 0: // as volumes were before they had node affinity
		v.Labels = map[string]string{choose(s, corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaZone): choose(s, zone, "zone-a__zone-b")}
	case 1:
		terms(st.Where(st.NotIn(s.zoneKey(), zone)))
	case 2:
		terms(st.Where(st.Exists(s.zoneKey())))
	case 3:
		terms(st.Where(st.In(s.zoneKey(), zone), st.In(corev1.LabelArchStable, "amd64")))
	case 4:
		terms(st.Where(st.In(corev1.LabelTopologyRegion, "here")))
	case 5:
		terms(st.Where(st.In(corev1.LabelHostname, s.nodeName(), "ip-10-0-0-1")))
	case 6:
		terms(st.Where(st.DoesNotExist("example.com/level")), st.Where(st.In(corev1.LabelTopologyZone, zone)))
	case 7:
		terms(st.Where(st.In(offerings.CapacityTypeLabel, "on-demand")))
	}
}

// class says in other words where volumes of a class can be.
func (s spice) class(c *storagev1.StorageClass) {
	switch s.IntN(4) {
	case 0:
		c.AllowedTopologies = st.StorageClass("odd", st.Where(st.In(s.zoneKey(), "zone-a", "zone-b"), st.In(corev1.LabelArchStable, "amd64"))).AllowedTopologies
	case 1:
		c.AllowedTopologies = st.StorageClass("odd", st.Where(st.In("example.com/nobody", "x")), st.Where(st.In(corev1.LabelTopologyZone, "zone-a"))).AllowedTopologies
	case 2:
		c.Provisioner = "kubernetes.io/no-provisioner"
	case 3:
		c.VolumeBindingMode = nil
	}
}
