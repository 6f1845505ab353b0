package duel

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// Draw is a random problem that both planners can express. Karpenter knows nothing of
// the constraints that kube-scheduler's configuration gives to pods without any, and of
// claims for one pod at a time; it takes volumes that are local to a host, which a new
// machine cannot be, for volumes that are anywhere. And nothing runs yet.
func Draw(seed uint64) scheduling.Problem {
	p := schedulingtest.Random(seed, schedulingtest.Size{Ties: true, Nodes: -1})
	p.DefaultSpread, p.Services, p.Owners = nil, nil, scheduling.Owners{}
	for _, c := range p.Claims {
		for i, mode := range c.Spec.AccessModes {
			if mode == corev1.ReadWriteOncePod {
				c.Spec.AccessModes[i] = corev1.ReadWriteOnce
			}
		}
	}
	for _, v := range p.Volumes {
		if v.Spec.Local != nil || v.Spec.HostPath != nil {
			v.Spec.NodeAffinity = nil
		}
	}
	return p
}
