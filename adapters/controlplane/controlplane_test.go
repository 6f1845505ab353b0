package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/klog/v2"
)

// ControlPlane is a running control plane.
type ControlPlane struct {
	// Config and Client may do everything. RBAC holds for the users that [ControlPlane.As] returns.
	Config *rest.Config
	Client *kubernetes.Clientset
}

// Start starts a control plane that ends with the test. A process has at most one at a time, because the components share
// the registry of feature gates. Their logs are dropped.
func Start(t testing.TB) *ControlPlane {
	t.Helper()
	klog.SetLogger(logr.Discard())
	ctx, cancel := context.WithCancel(context.Background()) // t.Context ends before the cleanups do
	etcd, endpoint, err := startEtcd(t.TempDir())
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(etcd.Close)
	config, stopped, err := startAPIServer(ctx, t.TempDir(), endpoint)
	t.Cleanup(func() {
		cancel()
		if stopped != nil {
			<-stopped
		}
	})
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	require.NoError(t, startScheduler(ctx, client))
	require.NoError(t, startControllers(ctx, config, client))
	require.NoError(t, startKubelets(ctx, client))
	return &ControlPlane{Config: config, Client: client}
}

// As returns the configuration of a client that is another user, who may do what RBAC allows.
func (p *ControlPlane) As(user string) *rest.Config {
	c := rest.CopyConfig(p.Config)
	c.Impersonate = rest.ImpersonationConfig{UserName: user}
	return c
}

// Apply creates the objects of YAML files, and waits until the kinds that they define are served.
func (p *ControlPlane) Apply(ctx context.Context, files ...string) error {
	client, err := dynamic.NewForConfig(p.Config)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(p.Client.Discovery()))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), len(data))
		for {
			var o unstructured.Unstructured
			if err := documents.Decode(&o); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			if err := create(ctx, client, mapper, &o); err != nil {
				return fmt.Errorf("%s: create %s %s: %w", file, o.GetKind(), o.GetName(), err)
			}
		}
	}
	return nil
}

// create creates an object. A kind that is not served yet may have been defined just before.
func create(ctx context.Context, client dynamic.Interface, mapper *restmapper.DeferredDiscoveryRESTMapper, o *unstructured.Unstructured) error {
	kind := o.GroupVersionKind()
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
		m, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if meta.IsNoMatchError(err) {
			mapper.Reset()
			return false, nil
		}
		if err != nil {
			return false, err
		}
		_, err = client.Resource(m.Resource).Namespace(o.GetNamespace()).Create(ctx, o, metav1.CreateOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
}
