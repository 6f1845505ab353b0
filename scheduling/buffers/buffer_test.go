package buffers_test

import (
	"context"
	"testing"

	"github.com/samber/lo"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/buffers"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// Virtual pods are of the lowest priority, have no claims, and leave the template as it is.
func TestPods(t *testing.T) {
	template := corev1.PodTemplateSpec{}
	template.Labels = map[string]string{"app": "web"}
	template.Spec = corev1.PodSpec{
		NodeName: "n", PriorityClassName: "high",
		Volumes:    []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "x"}}}, {Name: "tmp"}},
		Containers: []corev1.Container{{Name: "c", VolumeMounts: []corev1.VolumeMount{{Name: "data"}, {Name: "tmp"}}}},
	}
	b := buffers.Buffer{Namespace: "shop", Name: "web", Template: template, Replicas: 2}
	pods := b.Pods()
	require.Len(t, pods, 2)
	require.Equal(t, "shop/capacity-buffer-web-2", scheduling.PodName(pods[1]))
	require.True(t, scheduling.IsVirtual(pods[1]))
	require.Equal(t, buffers.VirtualPodPriority, *pods[1].Spec.Priority)
	require.Empty(t, pods[1].Spec.NodeName+pods[1].Spec.PriorityClassName)
	require.Equal(t, []corev1.Volume{{Name: "tmp"}}, pods[1].Spec.Volumes)
	require.Equal(t, []corev1.VolumeMount{{Name: "tmp"}}, pods[1].Spec.Containers[0].VolumeMounts)
	require.Len(t, template.Spec.Containers[0].VolumeMounts, 2)
	require.Equal(t, "n", template.Spec.NodeName)
	require.Empty(t, (&buffers.Buffer{Replicas: -1}).Pods())
}

// Room on existing nodes is used first, a node is launched for the rest, real pods come first where a limit ends launches,
// and the price is the difference to the plan without the room.
func TestRoomKept(t *testing.T) {
	p := scheduling.Problem{
		Catalog:   st.MustCatalog(st.Type("t.large", st.Capacity(st.Cores(4), st.GiB(8)), st.OnDemand("zone-a", 100))),
		NodePools: []*scheduling.NodePool{st.NodePool("general", st.Limit(st.Cores(8)))},
		Nodes:     []*corev1.Node{st.Node("n", st.Allocatable(st.Cores(2), st.GiB(4)))},
		Pods:      st.Pods(3, "web", st.Requests(st.Cores(2), st.GiB(1))),
	}
	b := buffers.Buffer{Namespace: "default", Name: "b", Replicas: 4, Template: corev1.PodTemplateSpec{Spec: p.Pods[0].Spec}}
	p.Pods = append(p.Pods, b.Pods()...)
	plan, err := provisioning.Planner{}.Plan(context.Background(), p)
	require.NoError(t, err)
	require.NoError(t, verify.Plan(p, plan))
	room := plan.Summary.RoomKept
	require.Equal(t, 4, room.Pods)
	require.Equal(t, []int{3, 3}, []int{plan.Summary.Pods, plan.Summary.Placed}, "virtual pods are counted apart")
	require.Equal(t, 2, room.Existing+room.Launched, "5 pods have room, and 3 of them are real")
	require.Len(t, plan.Unschedulable, 2)
	for _, u := range plan.Unschedulable {
		require.Contains(t, u.Pod, "capacity-buffer-b-")
		require.Contains(t, lo.Map(u.Reasons, func(r scheduling.ReasonCount, _ int) scheduling.ReasonCode { return r.Code }), scheduling.ReasonLimits)
		require.NotEmpty(t, u.Changes, "room has causes and remedies as real pods have")
	}
	require.Equal(t, int64(4000), room.Requests.Cpu().MilliValue())
	require.Equal(t, offerings.Price(100), *room.PricePerHour)

	// The price is that of the plan without the room: another price, and a plan that is no plan of the real pods, are found.
	for name, forge := range map[string]func(*scheduling.RoomKept){
		"price":             func(r *scheduling.RoomKept) { *r.PricePerHour = 99 },
		"no plan":           func(r *scheduling.RoomKept) { r.Without = nil },
		"no price":          func(r *scheduling.RoomKept) { r.PricePerHour = nil },
		"a plan of fewer":   func(r *scheduling.RoomKept) { r.Without.Existing[0].Pods = nil },
		"price of the plan": func(r *scheduling.RoomKept) { r.Without.Summary.PricePerHour, *r.PricePerHour = 150, 50 },
	} {
		forged, err := provisioning.Planner{}.Plan(context.Background(), p)
		require.NoError(t, err)
		forge(forged.Summary.RoomKept)
		require.Error(t, verify.Plan(p, forged), name)
	}
	plan.Summary.Pods, plan.Summary.Placed = 7, 5 // with the virtual pods
	require.ErrorContains(t, verify.Plan(p, plan), "placed")
}
