package controlplane

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/component-base/metrics"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/nodelifecycle"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/tainteviction"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"github.com/plimsoll-go/plimsoll/adapters/kubescheduler"
)

// PlannedScheduler is the spec.schedulerName of pods that are bound where their annotations say, by the plugin in
// adapters/kubescheduler with its mode Pinned.
const PlannedScheduler = "planned"

// schedulerConfiguration is the configuration of kube-scheduler: the default, and a profile with the plugin.
const schedulerConfiguration = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: ` + PlannedScheduler + `
  plugins: {multiPoint: {enabled: [{name: ` + kubescheduler.Name + `}]}}
  pluginConfig: [{name: ` + kubescheduler.Name + `, args: {mode: Pinned}}]
`

// startScheduler runs kube-scheduler until ctx ends. Pods that fit no node are tried again every second, not up to ten seconds
// later as by default, because the tests' nodes come within seconds.
func startScheduler(ctx context.Context, client kubernetes.Interface) error {
	object, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(schedulerConfiguration), nil, nil)
	if err != nil {
		return err
	}
	configuration, ok := object.(*config.KubeSchedulerConfiguration)
	if !ok {
		return fmt.Errorf("configuration of kube-scheduler: got %T", object)
	}
	plugin := kubescheduler.Factory(kubescheduler.Options{Register: metrics.NewKubeRegistry().Register})
	factory := scheduler.NewInformerFactory(client, 0)
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		return err
	}
	s, err := scheduler.New(ctx, client, factory, nil, profile.NewRecorderFactory(broadcaster), scheduler.WithPodMaxBackoffSeconds(1),
		scheduler.WithProfiles(configuration.Profiles...), scheduler.WithFrameworkOutOfTreeRegistry(frameworkruntime.Registry{kubescheduler.Name: plugin}))
	if err != nil {
		return fmt.Errorf("create kube-scheduler: %w", err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if err := s.WaitForHandlersSync(ctx); err != nil {
		return fmt.Errorf("start kube-scheduler: %w", err)
	}
	go s.Run(ctx)
	return nil
}

// noHeartbeats is how long a node may send none. Kubelets here send none, and say themselves when a node is not ready.
const noHeartbeats = 24 * time.Hour

// startControllers runs the controllers of kube-controller-manager until ctx ends.
func startControllers(ctx context.Context, restConfig *rest.Config, client kubernetes.Interface) error {
	factory := informers.NewSharedInformerFactory(client, 0)
	core, apps := factory.Core().V1(), factory.Apps().V1()

	deployments, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), core.Pods(), client)
	if err != nil {
		return fmt.Errorf("create the deployment controller: %w", err)
	}
	replicaSets := replicaset.NewReplicaSetController(ctx, apps.ReplicaSets(), core.Pods(), client, replicaset.BurstReplicas)
	daemonSets, err := daemon.NewDaemonSetsController(ctx, apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(), core.Nodes(), client,
		flowcontrol.NewBackOff(time.Second, time.Minute))
	if err != nil {
		return fmt.Errorf("create the DaemonSet controller: %w", err)
	}
	nodes, err := nodelifecycle.NewNodeLifecycleController(ctx, factory.Coordination().V1().Leases(), core.Pods(), core.Nodes(), apps.DaemonSets(), client,
		time.Second, noHeartbeats, noHeartbeats, 10, 10, 50, 0.55)
	if err != nil {
		return fmt.Errorf("create the node lifecycle controller: %w", err)
	}
	taints, err := tainteviction.New(ctx, client, core.Pods(), core.Nodes(), "taint-eviction-controller")
	if err != nil {
		return fmt.Errorf("create the taint eviction controller: %w", err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	scales, err := scale.NewForConfig(restConfig, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client.Discovery()))
	if err != nil {
		return err
	}
	budgets := disruption.NewDisruptionController(ctx, core.Pods(), factory.Policy().V1().PodDisruptionBudgets(), core.ReplicationControllers(),
		apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(), client, mapper, scales, client.Discovery())

	factory.Start(ctx.Done())
	const workers = 5
	go deployments.Run(ctx, workers)
	go replicaSets.Run(ctx, workers)
	go daemonSets.Run(ctx, workers)
	go nodes.Run(ctx)
	go taints.Run(ctx)
	go budgets.Run(ctx)
	return nil
}
