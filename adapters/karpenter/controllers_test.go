package karpenter_test

import (
	"testing"

	"github.com/awslabs/operatorpkg/controller"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/karpenter/pkg/controllers"
	kdisruption "sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/operator/options"

	"github.com/plimsoll-go/plimsoll/adapters/karpenter"
)

// named are the names of controllers, in their order.
func named(list []controller.Controller) (names []string) {
	for _, c := range list {
		if n, ok := c.(interface{ Name() string }); ok {
			names = append(names, n.Name())
		}
	}
	return names
}

func TestControllersAreKarpenters(t *testing.T) {
	w := newWorld(t)
	theirs := controllers.NewControllers(w.ctx, nil, w.clock, w.kube, w.published, w.cloud, w.cloud, w.cluster, nil)
	ours := karpenter.NewControllers(w.ctx, nil, w.clock, w.kube, w.published, w.cloud, w.cloud, w.cluster, nil)
	require.Equal(t, named(theirs), named(ours))
	require.Len(t, ours, len(theirs))
	one[*karpenter.Provisioner](t, ours)
}

func TestControllersStayWhereBuffersArePlanned(t *testing.T) {
	w := newWorld(t)
	flags := *options.FromContext(w.ctx)
	flags.FeatureGates.CapacityBuffer = true
	ctx := options.ToContext(w.ctx, &flags)
	list := controllers.NewControllers(ctx, nil, w.clock, w.kube, w.published, w.cloud, w.cloud, w.cluster, nil)
	require.Equal(t, list, karpenter.Settings{}.Exchange(ctx, w.reader(), list))
	without := []controller.Controller{one[*kdisruption.Queue](t, list)}
	require.Equal(t, without, karpenter.Settings{}.Exchange(w.ctx, w.reader(), without))
}
