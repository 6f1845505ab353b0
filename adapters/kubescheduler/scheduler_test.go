package kubescheduler_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/metrics"
	"k8s.io/klog/v2"
	scheduler "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/plimsoll-go/plimsoll/adapters/kubescheduler"
)

// clock is a clock that tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// patience is how long anything may take; a busy machine is slow.
const patience = 3 * time.Minute

// cluster is an API server in memory with a real kube-scheduler, which has the plugin.
type cluster struct {
	t         *testing.T
	client    *fake.Clientset
	scheduler *scheduler.Scheduler
	clock     clock
	registry  metrics.KubeRegistry
	serial    int
	log       lines
}

// lines are the messages of the plugin's log.
type lines struct {
	mu   sync.Mutex
	text []string
}

func (l *lines) add(_, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, text)
}

// having returns how many lines have a text.
func (l *lines) having(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.text {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// start starts a kube-scheduler with arguments for the plugin, in YAML on one line.
func start(t *testing.T, args string, source kubescheduler.Source) *cluster {
	t.Helper()
	c := &cluster{t: t, client: fake.NewClientset(), registry: metrics.NewKubeRegistry(), clock: clock{now: time.Now()}}
	c.client.PrependReactor("create", "pods", c.bind)
	text := `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: PlimsollPlacement, weight: 100}]}}
  pluginConfig: [{name: PlimsollPlacement, args: ` + args + `}]
`
	object, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(text), nil, nil)
	require.NoError(t, err)
	ctx := klog.NewContext(t.Context(), funcr.New(c.log.add, funcr.Options{}))
	plugin := kubescheduler.Factory(kubescheduler.Options{Source: source, Register: c.registry.Register, Clock: c.clock.read, PollEvery: 10 * time.Millisecond})
	informers := scheduler.NewInformerFactory(c.client, 0)
	c.scheduler, err = scheduler.New(ctx, c.client, informers, nil, func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		scheduler.WithProfiles(object.(*config.KubeSchedulerConfiguration).Profiles...),
		scheduler.WithFrameworkOutOfTreeRegistry(frameworkruntime.Registry{kubescheduler.Name: plugin}))
	require.NoError(t, err)
	informers.Start(ctx.Done())
	informers.WaitForCacheSync(ctx.Done())
	require.NoError(t, c.scheduler.WaitForHandlersSync(ctx))
	go c.scheduler.Run(ctx)
	return c
}

// bind sets the pod's node when the scheduler creates a Binding, as the API server does.
func (c *cluster) bind(action clienttesting.Action) (handled bool, result runtime.Object, err error) {
	if action.GetSubresource() != "binding" {
		return false, nil, nil
	}
	binding := action.(clienttesting.CreateAction).GetObject().(*corev1.Binding)
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	object, err := c.client.Tracker().Get(pods, binding.Namespace, binding.Name)
	if err != nil {
		return true, nil, err
	}
	pod := object.(*corev1.Pod).DeepCopy()
	pod.Spec.NodeName = binding.Target.Name
	return true, binding, c.client.Tracker().Update(pods, pod, pod.Namespace)
}

// join adds nodes, and waits until kube-scheduler knows them: it is told of nodes and of pods in no particular order.
func (c *cluster) join(nodes ...*corev1.Node) {
	c.t.Helper()
	for _, n := range nodes {
		_, err := c.client.CoreV1().Nodes().Create(c.t.Context(), n, metav1.CreateOptions{})
		require.NoError(c.t, err)
	}
	c.wait(func() (any, bool) {
		known := c.scheduler.Cache.Dump().Nodes
		return slices.Collect(maps.Keys(known)), !slices.ContainsFunc(nodes, func(n *corev1.Node) bool { return known[n.Name] == nil })
	})
}

// create adds pods.
func (c *cluster) create(pods ...*corev1.Pod) {
	c.t.Helper()
	for _, p := range pods {
		c.serial++
		p.Namespace, p.UID, p.Spec.SchedulerName = "default", types.UID(fmt.Sprint("pod-", c.serial)), "default-scheduler"
		_, err := c.client.CoreV1().Pods(p.Namespace).Create(c.t.Context(), p, metav1.CreateOptions{})
		require.NoError(c.t, err)
	}
}

func (c *cluster) pod(name string) *corev1.Pod {
	p, err := c.client.CoreV1().Pods("default").Get(context.WithoutCancel(c.t.Context()), name, metav1.GetOptions{})
	require.NoError(c.t, err)
	return p
}

// wait waits until a state is as it should be.
func (c *cluster) wait(state func() (got any, ok bool)) {
	c.t.Helper()
	var got any
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		var ok bool
		if got, ok = state(); ok {
			return
		}
	}
	require.Fail(c.t, "the state is not reached", "%v", got)
}

// bound waits until pods are bound to these nodes.
func (c *cluster) bound(want map[string]string) {
	c.t.Helper()
	c.wait(func() (any, bool) {
		got := map[string]string{}
		for name := range want {
			got[name] = c.pod(name).Spec.NodeName
		}
		return got, maps.Equal(got, want)
	})
}

// pending waits until the scheduler says of a pod that it has no node, for a reason with this text.
func (c *cluster) pending(name, reason string) {
	c.t.Helper()
	c.wait(func() (any, bool) {
		for _, x := range c.pod(name).Status.Conditions {
			if x.Type == corev1.PodScheduled && x.Status == corev1.ConditionFalse {
				return x.Message, strings.Contains(x.Message, reason)
			}
		}
		return "", false
	})
}

// logged waits until the plugin has logged a text so many times.
func (c *cluster) logged(text string, times int) {
	c.t.Helper()
	c.wait(func() (any, bool) { return c.log.having(text), c.log.having(text) == times })
}

// counts waits until the plugin's metrics are these, by result or result/cause.
func (c *cluster) counts(want map[string]int) {
	c.t.Helper()
	c.wait(func() (any, bool) {
		families, err := c.registry.Gather()
		require.NoError(c.t, err)
		got := map[string]int{}
		for _, family := range families {
			for _, m := range family.GetMetric() {
				cause, result := m.GetLabel()[0].GetValue(), m.GetLabel()[1].GetValue()
				got[strings.TrimSuffix(result+"/"+cause, "/")] = int(m.GetCounter().GetValue())
			}
		}
		return got, maps.Equal(got, want)
	})
}
