package grpcplugin_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/mem"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/expander"
	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/internal/autoscaler"
	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/internal/grpcplugin"
)

// request has a pod with each constraint that is read, which two groups can take, and one pod that one group can take.
func request() expander.Request {
	always := corev1.ContainerRestartPolicyAlways
	full := autoscaler.Pod("full", 500, 1<<30)
	full.Spec.InitContainers = []corev1.Container{{Name: "sidecar", Image: "proxy", RestartPolicy: &always, Ports: []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}}}
	full.Spec.HostNetwork = true
	full.Spec.Overhead = full.Spec.Containers[0].Resources.Requests
	full.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule}}
	terms := []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname}}
	full.Spec.Affinity = &corev1.Affinity{
		NodeAffinity:    &corev1.NodeAffinity{},
		PodAffinity:     &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms},
		PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms},
	}
	node := func(kind string) *corev1.Node {
		n := &corev1.Node{}
		n.Labels = map[string]string{corev1.LabelInstanceTypeStable: kind}
		return n
	}
	return expander.Request{
		Options: []expander.Option{
			{NodeGroup: "a", NodeCount: 3, Debug: "group a", Pods: []*corev1.Pod{full, autoscaler.Pod("other", 1, 1)}},
			{NodeGroup: "b", NodeCount: -1, Pods: []*corev1.Pod{full}},
		},
		Templates: map[string]*corev1.Node{"a": node("m5.large"), "b": node("m5.xlarge")},
	}
}

// read reads a message that arrives in one frame.
func read(message []byte) (expander.Request, error) {
	return grpcplugin.Read(mem.BufferSlice{mem.SliceBuffer(message)})
}

func message(t testing.TB, r expander.Request, g autoscaler.Generation) []byte {
	t.Helper()
	out, err := autoscaler.Marshal(r, g)
	require.NoError(t, err)
	return out
}

// frames are the bytes of a message in buffers of a size.
func frames(message []byte, size int) (out mem.BufferSlice) {
	for frame := range slices.Chunk(message, size) {
		out = append(out, mem.SliceBuffer(frame))
	}
	return out
}

// A message may arrive in frames of any size, so that any field lies in two of them.
func TestFramesOfAnySize(t *testing.T) {
	whole := message(t, request(), autoscaler.Both)
	want, err := grpcplugin.Read(frames(whole, len(whole)))
	require.NoError(t, err)
	for size := 1; size < 300; size++ {
		got, err := grpcplugin.Read(frames(whole, size))
		require.NoError(t, err, "size %d", size)
		require.Equal(t, want, got, "size %d", size)
		_, err = grpcplugin.Read(frames(whole[:len(whole)-1], size))
		require.ErrorContains(t, err, "unexpected EOF", "size %d", size)
	}
}

func TestReadsAllVersions(t *testing.T) {
	sent := request()
	for _, g := range []autoscaler.Generation{autoscaler.Messages, autoscaler.Both, autoscaler.Bytes} {
		got, err := read(message(t, sent, g))
		require.NoError(t, err)
		assert.Equal(t, sent.Templates, got.Templates)
		require.Len(t, got.Options, 2)
		a, b := got.Options[0], got.Options[1]
		assert.Equal(t, []any{"a", 3, "group a", "b", -1}, []any{a.NodeGroup, a.NodeCount, a.Debug, b.NodeGroup, b.NodeCount})
		require.Len(t, a.Pods, 2)
		require.Len(t, b.Pods, 1)
		assert.Same(t, a.Pods[0], b.Pods[0])

		want, pod := sent.Options[0].Pods[0], a.Pods[0]
		assert.Equal(t, want.Name, pod.Name)
		assert.Equal(t, want.Namespace, pod.Namespace)
		assert.Equal(t, want.UID, pod.UID)
		assert.Equal(t, want.Labels, pod.Labels)
		assert.True(t, equality.Semantic.DeepEqual(want.Spec.Containers[0].Resources, pod.Spec.Containers[0].Resources))
		assert.Equal(t, want.Spec.InitContainers[0].Ports, pod.Spec.InitContainers[0].Ports)
		assert.Equal(t, want.Spec.InitContainers[0].RestartPolicy, pod.Spec.InitContainers[0].RestartPolicy)
		assert.Equal(t, want.Spec.TopologySpreadConstraints, pod.Spec.TopologySpreadConstraints)
		assert.Equal(t, want.Spec.Affinity.PodAffinity, pod.Spec.Affinity.PodAffinity)
		assert.Equal(t, want.Spec.Affinity.PodAntiAffinity, pod.Spec.Affinity.PodAntiAffinity)
		assert.True(t, equality.Semantic.DeepEqual(want.Spec.Overhead, pod.Spec.Overhead))
		assert.True(t, pod.Spec.HostNetwork)
		assert.Empty(t, pod.Spec.Containers[0].Image, "no choice reads images")
		assert.Empty(t, pod.Spec.Volumes)
		assert.Equal(t, "other", a.Pods[1].Name)
	}
}

// Bytes that are sent beside messages count, as the deprecation in expander.proto asks readers.
func TestBytesCountBesideMessages(t *testing.T) {
	old, present := request(), request()
	present.Templates["a"].Labels[corev1.LabelInstanceTypeStable] = "c5.large"
	got, err := read(append(message(t, old, autoscaler.Messages), message(t, present, autoscaler.Bytes)...))
	require.NoError(t, err)
	assert.Equal(t, "c5.large", got.Templates["a"].Labels[corev1.LabelInstanceTypeStable])
}

func TestPodsWithoutUID(t *testing.T) {
	r := request()
	for _, p := range r.Options[0].Pods {
		p.UID = ""
	}
	got, err := read(message(t, r, autoscaler.Bytes))
	require.NoError(t, err)
	assert.Same(t, got.Options[0].Pods[0], got.Options[1].Pods[0])
	assert.NotSame(t, got.Options[0].Pods[0], got.Options[0].Pods[1])
}

func TestMalformedRequests(t *testing.T) {
	bytes := func(field byte, value string) string { return string([]byte{field<<3 | 2, byte(len(value))}) + value }
	for want, sent := range map[string]string{
		"malformed BestOptionsRequest: unexpected EOF":                   "\x0a\x05ab",
		"options[0]unexpected EOF":                                       bytes(1, "\x0a\x05"),
		`options[1].nodeGroupId: "\xff": must be valid UTF-8`:            bytes(1, "") + bytes(1, bytes(1, "\xff")),
		`options[0].debug: "\xff": must be valid UTF-8`:                  bytes(1, bytes(3, "\xff")),
		"options[0].podBytes[0]: unexpected EOF":                         bytes(1, bytes(5, "\x0a")),
		"options[0].pod[0]: metadata: unexpected EOF":                    bytes(1, bytes(4, bytes(1, "\x0a"))),
		"options[0].podBytes[0]: metadata.labels: proto: wrong wireType": bytes(1, bytes(5, bytes(1, bytes(1, "web")+"\x58\x00"))),
		"options[0].podBytes[0]: spec: unexpected EOF":                   bytes(1, bytes(5, bytes(2, bytes(2, "\x0a")))),
		"options[0]groups are not supported":                             bytes(1, "\x0b"),
		`nodeBytesMap["a"]: unexpected EOF`:                              bytes(3, bytes(1, "a")+bytes(2, "\x0a\x05")),
		"nodeMap: unexpected EOF":                                        bytes(2, "\x0a"),
	} {
		_, err := read([]byte(sent))
		assert.ErrorContains(t, err, want)
	}
}

// Whatever is read does not panic, and is not larger than the message allows.
func FuzzRead(f *testing.F) {
	for _, g := range []autoscaler.Generation{autoscaler.Messages, autoscaler.Both, autoscaler.Bytes} {
		f.Add(message(f, request(), g))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := read(data)
		inFrames, inFramesErr := grpcplugin.Read(frames(data, 3))
		assert.Equal(t, err, inFramesErr)
		assert.Equal(t, r, inFrames)
		if err != nil {
			assert.ErrorContains(t, err, "malformed BestOptionsRequest: ")
			assert.Empty(t, r.Options)
		}
	})
}
