package provisioning_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

const attachable = "attachable-volumes-csi-" + ebs

// disks is a problem with pods that have a disk each, named like the pod, and a node
// with room for all of them.
func disks(pods int) scheduling.Problem {
	p := threeZones()
	p.StorageClasses = []*storagev1.StorageClass{st.StorageClass("waits")}
	p.Nodes = []*corev1.Node{st.Node("n1", st.Allocatable(st.Cores(100), st.GiB(100)), st.Label(zoneKey, "a"))}
	for i := range pods {
		withDisk(&p, fmt.Sprintf("pod-%d", i))
	}
	return p
}

// withDisk adds a pod and its disk.
func withDisk(p *scheduling.Problem, name string, opts ...st.PodOption) {
	p.Claims = append(p.Claims, st.Claim(name, st.OfClass("waits")))
	p.Pods = append(p.Pods, st.Pod(name, append(opts, st.Requests(st.MilliCPU(100), st.MiB(100)), st.UseClaim(name))...))
}

// runs adds a running pod with a volume of a driver.
func runs(p *scheduling.Problem, name, driver string) {
	p.Volumes = append(p.Volumes, st.Volume("pv-"+name, st.Driver(driver)))
	p.Claims = append(p.Claims, st.Claim(name, st.BoundTo("pv-"+name)))
	p.Running = append(p.Running, st.Pod(name, st.OnNode("n1"), st.UseClaim(name)))
}

func limited(node string, count int64) []*storagev1.CSINode {
	return []*storagev1.CSINode{st.CSINode(node, st.Count(ebs, count))}
}

// onNodes counts the pods that running nodes receive.
func onNodes(plan *scheduling.Plan) int {
	n := 0
	for _, a := range plan.Existing {
		n += len(a.Pods)
	}
	return n
}

// P144, P145: how many pods with a disk each a running node still takes.
func TestAttachLimitsOfRunningNodes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*scheduling.Problem)
		want   int // of five
	}{
		{"without a CSINode there is no limit", func(*scheduling.Problem) {}, 5},
		{"a CSINode of another node says nothing", func(p *scheduling.Problem) { p.CSINodes = limited("n2", 1) }, 5},
		{"a driver without a count has no limit", func(p *scheduling.Problem) { p.CSINodes = limited("n1", -1) }, 5},
		{"another driver's limit does not matter", func(p *scheduling.Problem) {
			p.CSINodes = []*storagev1.CSINode{st.CSINode("n1", st.Count("efs.csi.aws.com", 1))}
		}, 5},
		{"a limit", func(p *scheduling.Problem) { p.CSINodes = limited("n1", 3) }, 3},
		{"a limit of none", func(p *scheduling.Problem) { p.CSINodes = limited("n1", 0) }, 0},
		{"what is attached counts", func(p *scheduling.Problem) {
			p.CSINodes = limited("n1", 3)
			runs(p, "old", ebs)
		}, 2},
		{"a node that is over its limit takes none", func(p *scheduling.Problem) {
			p.CSINodes = limited("n1", 1)
			runs(p, "old", ebs)
			runs(p, "older", ebs)
		}, 0},
		{"a volume of two running pods counts once", func(p *scheduling.Problem) {
			p.CSINodes = limited("n1", 3)
			runs(p, "old", ebs)
			p.Running = append(p.Running, st.Pod("twin", st.OnNode("n1"), st.UseClaim("old")))
		}, 2},
		{"two claims of one pod count twice", func(p *scheduling.Problem) {
			p.CSINodes = limited("n1", 4)
			runs(p, "old", ebs)
			runs(p, "log", ebs)
			p.Running[0].Spec.Volumes = append(p.Running[0].Spec.Volumes, p.Running[1].Spec.Volumes...)
			p.Running = p.Running[:1]
		}, 2},
		{"P145: the plugin that the driver took over from counts", func(p *scheduling.Problem) {
			p.CSINodes = limited("n1", 3)
			runs(p, "old", "kubernetes.io/aws-ebs")
		}, 2},
		{"NFS is not attached", func(p *scheduling.Problem) {
			p.CSINodes = limited("n1", 3)
			runs(p, "old", "kubernetes.io/nfs")
		}, 3},
		{"an unbound claim of a running pod counts by its class", func(p *scheduling.Problem) {
			p.CSINodes = limited("n1", 3)
			p.Claims = append(p.Claims, st.Claim("old", st.OfClass("waits")))
			p.Running = append(p.Running, st.Pod("old", st.OnNode("n1"), st.UseClaim("old")))
		}, 2},
		{"a claim that is gone does not count", func(p *scheduling.Problem) {
			p.CSINodes = limited("n1", 3)
			p.Running = append(p.Running, st.Pod("old", st.OnNode("n1"), st.UseClaim("gone")))
		}, 3},
		{"a pod that has ended does not count", func(p *scheduling.Problem) {
			p.CSINodes = limited("n1", 3)
			runs(p, "old", ebs)
			p.Running[0].Status.Phase = corev1.PodFailed
		}, 3},
		{"an ephemeral volume counts", func(p *scheduling.Problem) {
			p.CSINodes = limited("n1", 3)
			p.Claims = append(p.Claims, st.Claim("old-cache", st.OfClass("waits"), st.OwnedByPod("old")))
			p.Running = append(p.Running, st.Pod("old", st.OnNode("n1"), st.Ephemeral("cache", st.OfClass("waits"))))
		}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := disks(5)
			tt.change(&p)
			plan := planned(t, p)
			assert.Empty(t, plan.Unschedulable)
			assert.Equal(t, tt.want, onNodes(plan))
		})
	}
}

// P145: the classes and plugins of other clouds lead to their drivers.
func TestDriversThatTookOver(t *testing.T) {
	for plugin, driver := range map[string]string{
		"kubernetes.io/aws-ebs": ebs, "kubernetes.io/gce-pd": "pd.csi.storage.gke.io", "kubernetes.io/azure-disk": "disk.csi.azure.com",
		"csi.example.com": "csi.example.com",
	} {
		t.Run(plugin, func(t *testing.T) {
			p := disks(3)
			p.StorageClasses = []*storagev1.StorageClass{st.StorageClass("waits", st.Driver(plugin))}
			p.CSINodes = []*storagev1.CSINode{st.CSINode("n1", st.Count(corev1.ResourceName(driver), 3))}
			runs(&p, "old", plugin)
			assert.Equal(t, 2, onNodes(planned(t, p)))
		})
	}
}

// A machine whose type states a limit holds no more; where none is stated, any number.
func TestAttachLimitsOfNewMachines(t *testing.T) {
	machine := func(name string, cents, limit int64) func() scheduling.Problem {
		return func() scheduling.Problem {
			opts := []st.TypeOption{st.Capacity(st.Cores(4), st.GiB(16)), st.OnDemand("a", st.Cents(cents))}
			if limit >= 0 {
				opts = append(opts, st.Capacity(st.Count(attachable, limit)))
			}
			p := disks(0)
			p.Nodes = nil
			p.Catalog = st.MustCatalog(st.Type(name, opts...))
			return p
		}
	}
	for _, tt := range []struct {
		name     string
		problem  func() scheduling.Problem
		launches int
		refused  int
	}{
		{"no limit", machine("m", 10, -1), 1, 0},
		{"two for each", machine("m", 10, 2), 3, 0},
		{"one for each", machine("m", 10, 1), 5, 0},
		{"none at all", machine("m", 10, 0), 0, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := tt.problem()
			for i := range 5 {
				withDisk(&p, fmt.Sprintf("pod-%d", i))
			}
			plan := planned(t, p)
			assert.Len(t, plan.Launches, tt.launches)
			require.Len(t, plan.Unschedulable, tt.refused)
			for _, u := range plan.Unschedulable {
				assert.Equal(t, scheduling.ReasonAttachLimit, u.Reasons[0].Code)
				assert.Contains(t, u.Message, "too few further volumes of "+ebs)
			}
		})
	}
}

// Of two types the search launches the cheaper one that takes all volumes, and lists as options only types that take
// all of them.
func TestAttachLimitsDecideTheType(t *testing.T) {
	p := disks(0)
	p.Nodes = nil
	p.Catalog = st.MustCatalog(
		st.Type("few", st.Capacity(st.Cores(4), st.GiB(16), st.Count(attachable, 2)), st.OnDemand("a", st.Cents(10))),
		st.Type("many", st.Capacity(st.Cores(4), st.GiB(16), st.Count(attachable, 8)), st.OnDemand("a", st.Cents(15))),
		st.Type("any", st.Capacity(st.Cores(4), st.GiB(16)), st.OnDemand("a", st.Cents(40))),
	)
	for i := range 8 {
		withDisk(&p, fmt.Sprintf("pod-%d", i))
	}
	plan := planned(t, p)
	require.Len(t, plan.Launches, 1)
	var types []string
	for _, o := range plan.Launches[0].Options {
		types = append(types, o.InstanceType)
	}
	assert.Equal(t, []string{"many", "any"}, types)
	assert.Equal(t, offerings.Price(150_000_000), plan.Summary.PricePerHour)
	// Attachments are nothing that pods request, so that no sum names them.
	assert.NotContains(t, plan.Launches[0].Requests, corev1.ResourceName(attachable))
	for _, r := range plan.Summary.Resources {
		assert.NotEqual(t, attachable, r.Resource)
	}
	assert.NotContains(t, fmt.Sprint(plan.Summary.Certificate), attachable)
}

// A pod with more volumes than any machine takes is told how many would do.
func TestTooManyVolumesForAnyMachine(t *testing.T) {
	p := disks(0)
	p.Nodes = nil
	p.Catalog = st.MustCatalog(st.Type("m", st.Capacity(st.Cores(4), st.GiB(16), st.Count(attachable, 2)), st.OnDemand("a", st.Cents(10))))
	withDisk(&p, "greedy", st.UseClaim("b"), st.UseClaim("c"))
	p.Claims = append(p.Claims, st.Claim("b", st.OfClass("waits")), st.Claim("c", st.OfClass("waits")))
	plan := planned(t, p)
	require.Len(t, plan.Unschedulable, 1)
	u := plan.Unschedulable[0]
	assert.Equal(t, scheduling.ReasonAttachLimit, u.Reasons[0].Code)
	assert.Equal(t, []string{"use at most 2 volumes of " + ebs + " instead of 3"}, u.Fixes)
}

// Other resources are named before attachments are.
func TestAttachLimitsBesideOtherShortages(t *testing.T) {
	p := disks(0)
	p.Nodes = nil
	p.Catalog = st.MustCatalog(st.Type("m", st.Capacity(st.Cores(4), st.GiB(16), st.Count(attachable, 0)), st.OnDemand("a", st.Cents(10))))
	withDisk(&p, "large")
	p.Pods[0] = st.Pod("large", st.Requests(st.Cores(5), st.GiB(1)), st.UseClaim("large"))
	plan := planned(t, p)
	require.Len(t, plan.Unschedulable, 1)
	assert.Equal(t, scheduling.ReasonCount{Code: scheduling.ReasonResources, Count: 1, Detail: "too little cpu"}, plan.Unschedulable[0].Reasons[0])
}

// P144: a volume that several pods use takes up one attachment of a node.
func TestSharedVolumes(t *testing.T) {
	// shared are five pods with one volume, on a node that takes so many.
	shared := func(limit int64, opts ...st.ClaimOption) scheduling.Problem {
		p := disks(0)
		p.CSINodes = limited("n1", limit)
		p.Claims = append(p.Claims, st.Claim("common", append(opts, st.OfClass("waits"))...))
		for i := range 5 {
			p.Pods = append(p.Pods, st.Pod(fmt.Sprintf("s-%d", i), st.Requests(st.MilliCPU(100), st.MiB(100)), st.UseClaim("common")))
		}
		return p
	}
	t.Run("all meet on a node", func(t *testing.T) {
		assert.Equal(t, 5, onNodes(planned(t, shared(4))))
	})
	t.Run("beside others, whose room is one less", func(t *testing.T) {
		p := shared(4)
		for i := range 5 {
			withDisk(&p, fmt.Sprintf("pod-%d", i))
		}
		plan := planned(t, p)
		assert.Equal(t, 8, onNodes(plan))
		assert.Empty(t, plan.Unschedulable)
	})
	t.Run("a full node takes none of them", func(t *testing.T) {
		p := shared(4)
		for i := range 4 {
			runs(&p, fmt.Sprintf("old-%d", i), ebs)
		}
		plan := planned(t, p)
		assert.Zero(t, onNodes(plan))
		assert.Len(t, plan.Launches, 1)
		p.NodePools = nil
		reasons := planned(t, p).Unschedulable[0].Reasons
		assert.Contains(t, reasons, scheduling.ReasonCount{Code: scheduling.ReasonAttachLimit, Count: 1, Nodes: 1, Detail: "no further volumes of " + ebs + " can be attached to the node"})
	})
	t.Run("a full node takes none of them that are nominated to it", func(t *testing.T) {
		p := shared(4)
		p.Claims[0] = st.Claim("common", st.BoundTo("v"))
		p.Volumes = append(p.Volumes, st.Volume("v", st.Driver(ebs)))
		for i := range 4 {
			runs(&p, fmt.Sprintf("old-%d", i), ebs)
		}
		p.Pods[0].Status.NominatedNodeName = "n1"
		assert.Zero(t, onNodes(planned(t, p)))
	})
	t.Run("a full node takes them where the volume is there", func(t *testing.T) {
		p := shared(4)
		for i := range 3 {
			runs(&p, fmt.Sprintf("old-%d", i), ebs)
		}
		p.Running = append(p.Running, st.Pod("first", st.OnNode("n1"), st.UseClaim("common")))
		assert.Equal(t, 5, onNodes(planned(t, p)))
	})
	t.Run("a node where the volume cannot be is not charged for it", func(t *testing.T) {
		p := shared(4)
		p.Claims[0] = st.Claim("common", st.BoundTo("v"))
		p.Volumes = append(p.Volumes, st.Volume("v", st.Where(st.In(zoneKey, "b"))))
		for i := range 5 {
			withDisk(&p, fmt.Sprintf("pod-%d", i))
		}
		assert.Equal(t, 4, onNodes(planned(t, p)))
	})
	t.Run("many shared volumes leave room", func(t *testing.T) {
		p := disks(0)
		p.CSINodes = limited("n1", 8)
		for i := range 20 {
			name := fmt.Sprintf("common-%d", i)
			p.Claims = append(p.Claims, st.Claim(name, st.OfClass("waits")))
			for j := range 2 {
				p.Pods = append(p.Pods, st.Pod(fmt.Sprintf("s-%d-%d", i, j), st.Requests(st.MilliCPU(100), st.MiB(100)), st.UseClaim(name)))
			}
		}
		plan := planned(t, p)
		assert.Empty(t, plan.Unschedulable)
		assert.Positive(t, onNodes(plan))
		assert.LessOrEqual(t, attachedTo(p, plan, "n1"), 8)
	})
}

// attachedTo counts the distinct claims of the pods that a node receives.
func attachedTo(p scheduling.Problem, plan *scheduling.Plan, node string) int {
	claims := map[string]bool{}
	for _, pod := range p.Pods {
		if placementOf(plan, pod.Name).Node == node {
			for _, v := range pod.Spec.Volumes {
				claims[v.PersistentVolumeClaim.ClaimName] = true
			}
		}
	}
	return len(claims)
}

// A node that is still starting takes as many volumes as its type states.
func TestAttachLimitsOfNodesInFlight(t *testing.T) {
	o := offerings.Offering{Zone: "a", CapacityType: offerings.OnDemand, Price: st.Cents(10)}
	m := st.Type("m", st.Capacity(st.Cores(4), st.GiB(16), st.Count(attachable, 3)), st.Offer(o))
	p := disks(5)
	p.Catalog = st.MustCatalog(m)
	p.Nodes = []*corev1.Node{st.Node("n1", st.OfType(m, o), st.OfPool("default"), st.InFlight())}
	assert.Equal(t, 3, onNodes(planned(t, p)))
	p.CSINodes = limited("n1", 4) // once it reports a limit, that counts
	assert.Equal(t, 4, onNodes(planned(t, p)))
}

// For volumes and pods of any size, no node gets more volumes than its limit.
func TestAttachLimitsHold(t *testing.T) {
	for _, limit := range []int64{0, 1, 4, 11} {
		for _, pods := range []int{1, 3, 6, 11} {
			p := disks(pods)
			p.CSINodes = limited("n1", limit)
			p.Claims = append(p.Claims, st.Claim("common", st.OfClass("waits")), st.Claim("other", st.OfClass("waits")))
			for i := range pods {
				p.Pods[i].Spec.Volumes = append(p.Pods[i].Spec.Volumes, st.Pod("x", st.UseClaim([]string{"common", "other", "common"}[i%3])).Spec.Volumes...)
			}
			plan := planned(t, p)
			require.Empty(t, plan.Unschedulable)
			require.LessOrEqual(t, attachedTo(p, plan, "n1"), int(limit), "limit %d, %d pods", limit, pods)
		}
	}
}
