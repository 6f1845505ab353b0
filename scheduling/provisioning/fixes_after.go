package provisioning

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/explain"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// boughtPrefix begins the names of nodes that a plan launches; no other node's name has a slash.
const boughtPrefix = "launch/"

// carriedOut is the problem once a plan has been carried out, without the pods that it leaves out. Each launch has become its
// first option, without free room, because another option may have been launched. With every, limits and reservations have
// lost the most that any option takes.
func carriedOut(f *instance.Facts, plan *scheduling.Plan, every bool) (*Session, error) {
	p := cloned(*f.Problem)
	bought, nodeOf := map[string]*corev1.Node{}, map[types.NamespacedName]*corev1.Node{}
	drawn := map[string]int64{}
	for i := range plan.Launches {
		l := &plan.Launches[i]
		node, err := l.Node(boughtPrefix+strconv.Itoa(len(p.Nodes)), &l.Options[0], p.CatalogOf(l.NodePool))
		if err != nil {
			return nil, err
		}
		requirements.AddAliases(node.Labels)
		node.Status.Allocatable[corev1.ResourcePods] = *resource.NewQuantity(int64(len(l.Pods)), resource.DecimalSI)
		p.Nodes = append(p.Nodes, node)
		bought[l.Name] = node
		options := l.Options
		if every {
			holdLimits(&p, l)
		} else {
			options = options[:1]
		}
		most := map[string]int64{} // by reservation, the most that any option takes
		for i := range options {
			if id, amount := instancetypes.Draws(p.CatalogOf(l.NodePool), options[i].Key()); id != "" {
				most[id] = max(most[id], amount)
			}
		}
		for id, amount := range most {
			drawn[id] += amount
		}
	}
	for pod, at := range plan.Placements() {
		if nodeOf[pod] = bought[at.Name()]; at.Launch == nil {
			nodeOf[pod] = f.Cluster.Host(at.Node).Node
		}
	}
	p.Running = nil
	for _, h := range f.Cluster.Hosts {
		for _, pod := range h.Pods {
			p.Running = append(p.Running, podspec.OnNode(pod, h.Name))
		}
	}
	for _, pod := range p.Pods {
		if node, ok := nodeOf[podspec.PodKey(pod)]; ok {
			p.Running = append(p.Running, podspec.OnNode(pod, node.Name))
			bindClaims(&p, pod, node)
		}
	}
	p.Pods, p.Nominated = nil, nil
	if len(drawn) == 0 {
		return newSession(*f.Solver, p, f.Memory.Fork()), nil
	}
	err := explain.ChangeOfferings(&p, func(_ string, o *offerings.Offering) bool {
		n := drawn[o.ReservationID]
		o.ReservationCount = max(o.ReservationCount-n, 0)
		return n > 0
	})
	return newSession(*f.Solver, p, f.Memory.Fork()), err
}

// holdLimits takes from each limit of a launch's pool the most that any option takes beyond the first.
func holdLimits(p *scheduling.Problem, l *scheduling.Launch) {
	at := slices.IndexFunc(p.NodePools, func(pool *scheduling.NodePool) bool { return pool.Name == l.NodePool })
	if at < 0 || len(p.NodePools[at].Spec.Limits) == 0 {
		return
	}
	pool, catalog := *p.NodePools[at], p.CatalogOf(l.NodePool)
	capacity := func(o *scheduling.LaunchOption, name corev1.ResourceName) (q resource.Quantity) {
		if t, ok := catalog.Get(o.InstanceType); ok {
			offering, _ := catalog.Lookup(o.Key())
			q = offers.CapacityOf(t, &offering, name)
		}
		return q
	}
	pool.Spec.Limits = maps.Clone(pool.Spec.Limits)
	for name, limit := range pool.Spec.Limits {
		first := capacity(&l.Options[0], name)
		most := first
		for i := range l.Options {
			if q := capacity(&l.Options[i], name); q.Cmp(most) > 0 {
				most = q
			}
		}
		left := limit.DeepCopy()
		left.Add(first)
		left.Sub(most)
		pool.Spec.Limits[name] = left
	}
	p.NodePools[at] = &pool
}

// bindClaims binds claims of a pod, of classes with WaitForFirstConsumer, to new volumes in the zone of its node.
func bindClaims(p *scheduling.Problem, pod *corev1.Pod, node *corev1.Node) {
	zone, zonal := node.Labels[offerings.ZoneLabel]
	for i, c := range p.Claims {
		class := podspec.ClassName(c)
		if c.Spec.VolumeName != "" || class == nil || podspec.OrDefault(c.Namespace) != podspec.NamespaceOf(pod) || !claims(pod, c.Name) {
			continue
		}
		for _, k := range p.StorageClasses {
			if k.Name != *class || podspec.IsStatic(k) || !zonal {
				continue
			}
			v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "made/" + podspec.NamespaceOf(pod) + "/" + c.Name, Labels: map[string]string{offerings.ZoneLabel: zone}}}
			v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: podspec.ProvisionerDriver(k.Provisioner), VolumeHandle: v.Name}
			p.Volumes = append(p.Volumes, v)
			p.Claims[i] = c.DeepCopy()
			p.Claims[i].Spec.VolumeName, p.Claims[i].Status.Phase = v.Name, corev1.ClaimBound
		}
	}
}

// claims reports whether a pod mounts a claim.
func claims(pod *corev1.Pod, name string) bool {
	for i := range pod.Spec.Volumes {
		if c := pod.Spec.Volumes[i].PersistentVolumeClaim; c != nil && c.ClaimName == name {
			return true
		}
	}
	return false
}
