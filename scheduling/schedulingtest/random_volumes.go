package schedulingtest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/plimsoll-go/plimsoll/internal/dice"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// ebsZone is the name that a driver has for the zone.
const ebsZone = "topology.ebs.csi.aws.com/zone"

// volumes draws volumes in zones, claims that are bound with their pod, and attach limits of nodes.
func (w *relations) volumes(p *scheduling.Problem, groups [][]*corev1.Pod) {
	if w.only != 4 && !w.base.dice.OneIn(4) {
		return
	}
	p.StorageClasses = w.classes()
	for i, g := range groups {
		if w.only == 4 || w.base.dice.OneIn(4) {
			w.claims(p, fmt.Sprintf("data-%d", i), g)
		}
	}
	w.runningClaims(p)
	if w.base.dice.OneIn(2) {
		for _, n := range p.Nodes {
			if !w.base.dice.OneIn(3) {
				p.CSINodes = append(p.CSINodes, CSINode(n.Name, Count(diskDriver, int64(w.base.dice.Between(0, 4))), Count("efs.csi.aws.com", -1)))
			}
		}
	}
}

// classes returns the classes that claims name.
func (w *relations) classes() []*storagev1.StorageClass {
	zonal := StorageClass("zonal", Where(In(corev1.LabelTopologyZone, dice.Some(w.base.dice, w.base.zones...)...)))
	if w.base.dice.OneIn(2) {
		zonal = StorageClass("zonal",
			Where(In(corev1.LabelTopologyZone, dice.Pick(w.base.dice, w.base.zones...))),
			Where(In(dice.Pick(w.base.dice, corev1.LabelTopologyZone, ebsZone), dice.Pick(w.base.dice, w.base.zones...))))
	}
	return []*storagev1.StorageClass{
		StorageClass("any"), zonal, StorageClass("files", Driver("efs.csi.aws.com")),
		StorageClass("now", Immediate()), StorageClass("usual", DefaultClass(1)),
	}
}

// claims gives a workload volumes of one kind.
func (w *relations) claims(p *scheduling.Problem, name string, pods []*corev1.Pod) {
	namespace := Namespace(pods[0].Namespace)
	each := func(claimFor func(pod *corev1.Pod, claim string)) {
		for i, pod := range pods {
			claim := fmt.Sprintf("%s-%d", name, i)
			claimFor(pod, claim)
			UseClaim(claim).Apply(pod)
		}
	}
	bound := func(claim string, opts ...ClaimOption) {
		opts = append(opts, namespace, BoundTo("disk-"+claim))
		p.Claims = append(p.Claims, Claim(claim, opts...))
		p.Volumes = append(p.Volumes, w.volume("disk-"+claim))
	}
	switch w.base.dice.IntN(14) {
	case 0, 1, 2, 11: // a volume for each, wherever
		each(func(_ *corev1.Pod, claim string) { bound(claim) })
	case 3, 4, 12: // a volume for each, to be made
		class := dice.Pick(w.base.dice, "any", "any", "zonal", "files")
		each(func(_ *corev1.Pod, claim string) {
			p.Claims = append(p.Claims, Claim(claim, namespace, OfClass(class)))
		})
	case 5: // one volume for all
		bound(name)
		apply(pods, UseClaim(name))
	case 6: // one volume for one of them
		bound(name, Access(corev1.ReadWriteOncePod))
		apply(pods, UseClaim(name))
	case 7, 8:
		if w.base.dice.OneIn(3) {
			apply(pods, Ephemeral("scratch"))
		} else {
			apply(pods, Ephemeral("scratch", OfClass(dice.Pick(w.base.dice, "any", "zonal", "any", "nowhere"))))
		}
	case 9, 13: // one to be made for all
		p.Claims = append(p.Claims, Claim(name, namespace, OfClass(dice.Pick(w.base.dice, "any", "zonal"))))
		apply(pods, UseClaim(name))
	case 10: // claims with something wrong
		each(func(_ *corev1.Pod, claim string) {
			if c := w.brokenClaim(claim, namespace); c != nil {
				p.Claims = append(p.Claims, c)
			}
		})
	}
}

// brokenClaim returns a claim with which no pod can start; nil if the claim is to be missing.
func (w *relations) brokenClaim(name string, namespace ClaimOption) *corev1.PersistentVolumeClaim {
	switch w.base.dice.IntN(8) {
	case 0:
		return Claim(name, namespace, OfClass("now"))
	case 1:
		return Claim(name, namespace, OfClass("nowhere"))
	case 2:
		return Claim(name, namespace)
	case 3:
		return Claim(name, namespace, OfClass("any"), Lost())
	case 4:
		return Claim(name, namespace, OfClass("any"), Deleting())
	case 5:
		return Claim(name, namespace, BoundTo("disk-of-nobody"))
	case 6:
		return Claim(name, namespace, HalfBoundTo("disk-of-nobody"))
	}
	return nil
}

// volume returns a volume in some zones, in the words of its driver.
func (w *relations) volume(name string) *corev1.PersistentVolume {
	in := func(zones ...string) requirements.Selector {
		return In(dice.Pick(w.base.dice, corev1.LabelTopologyZone, corev1.LabelTopologyZone, ebsZone), zones...)
	}
	switch w.base.dice.IntN(8) {
	case 0:
		return Volume(name)
	case 1:
		return Volume(name, Where(in(dice.Some(w.base.dice, w.base.zones...)...)))
	case 2:
		first, second := in(dice.Pick(w.base.dice, w.base.zones...)), in(dice.Pick(w.base.dice, w.base.zones...))
		return Volume(name, Where(first), Where(second))
	case 3:
		return Volume(name, Driver(dice.Pick(w.base.dice, inTreeEBS, inTreeGCE, inTreeNFS)), Where(In(corev1.LabelTopologyZone, dice.Pick(w.base.dice, w.base.zones...))))
	case 4:
		return Volume(name, Driver(inTreeLocal), Where(In(corev1.LabelHostname, dice.Pick(w.base.dice, "node-0", "node-1", "gone"))))
	}
	return Volume(name, Where(in(dice.Pick(w.base.dice, w.base.zones...))))
}

// runningClaims gives volumes to running pods, and some of these volumes to pending pods.
func (w *relations) runningClaims(p *scheduling.Problem) {
	for i, pod := range p.Running {
		if !w.base.dice.OneIn(3) {
			continue
		}
		name := fmt.Sprintf("used-%d", i)
		opts := []ClaimOption{Namespace(pod.Namespace), BoundTo("disk-" + name)}
		if w.base.dice.OneIn(4) {
			opts = append(opts, Access(corev1.ReadWriteOncePod))
		}
		p.Claims = append(p.Claims, Claim(name, opts...))
		p.Volumes = append(p.Volumes, Volume("disk-"+name))
		UseClaim(name).Apply(pod)
		if w.base.dice.OneIn(4) {
			for _, other := range p.Pods {
				if other.Namespace == pod.Namespace {
					UseClaim(name).Apply(other)
					break
				}
			}
		}
	}
}
