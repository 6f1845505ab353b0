package controlplane

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// startEtcd starts an etcd with one member, which keeps its data in dir, and returns its URL. It does not wait for the disk,
// because the data end with the test.
func startEtcd(dir string) (server *embed.Etcd, endpoint string, err error) {
	local := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	c := embed.NewConfig()
	c.Dir, c.LogLevel, c.UnsafeNoFsync, c.EnableGRPCGateway = dir, "fatal", true, false
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{local}, []url.URL{local}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{local}, []url.URL{local}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	server, err = embed.StartEtcd(c)
	if err != nil {
		return nil, "", fmt.Errorf("start etcd: %w", err)
	}
	<-server.Server.ReadyNotify()
	return server, "http://" + server.Clients[0].Addr().String(), nil
}

// startAPIServer starts a kube-apiserver on a free port of the loopback interface, and returns the configuration of a client
// that may do everything. It runs until ctx ends; stopped is closed when it has ended.
func startAPIServer(ctx context.Context, dir, etcd string) (config *rest.Config, stopped <-chan struct{}, err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	key, err := serviceAccountKey(dir)
	if err != nil {
		return nil, nil, err
	}
	o := options.NewServerRunOptions()
	o.SecureServing.Listener = listener
	o.SecureServing.BindAddress = net.IPv4(127, 0, 0, 1)
	o.SecureServing.BindPort = listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // of a TCP listener
	o.SecureServing.ServerCert.CertDirectory = dir
	o.Etcd.StorageConfig.Transport.ServerList = []string{etcd}
	o.ServiceClusterIPRanges = "10.0.0.0/24"
	o.Authorization.Modes = []string{"RBAC"}
	o.Authentication.ServiceAccounts.Issuers = []string{"https://kubernetes.default.svc"}
	o.Authentication.ServiceAccounts.KeyFiles = []string{key}
	o.ServiceAccountSigningKeyFile = key
	// Pods would have to wait for the token controller.
	o.Admission.GenericAdmission.DisablePlugins = []string{"ServiceAccount"}
	if err := o.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return nil, nil, err
	}
	completed, err := o.Complete(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("complete the options of kube-apiserver: %w", err)
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return nil, nil, fmt.Errorf("options of kube-apiserver: %w", utilerrors.NewAggregate(errs))
	}
	c, err := app.NewConfig(completed)
	if err != nil {
		return nil, nil, err
	}
	all, err := c.Complete()
	if err != nil {
		return nil, nil, err
	}
	server, err := app.CreateServerChain(all)
	if err != nil {
		return nil, nil, fmt.Errorf("create kube-apiserver: %w", err)
	}
	prepared, err := server.PrepareRun()
	if err != nil {
		return nil, nil, fmt.Errorf("prepare kube-apiserver: %w", err)
	}
	ended := make(chan struct{})
	failed := make(chan error, 1)
	go func() {
		defer close(ended)
		failed <- prepared.Run(ctx)
	}()
	config = rest.CopyConfig(server.GenericAPIServer.LoopbackClientConfig)
	config.QPS = -1 // no limit of the client's
	return config, ended, ready(ctx, config, failed)
}

// ready waits until kube-apiserver is ready and has its default namespaces and roles.
func ready(ctx context.Context, config *rest.Config, failed <-chan error) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	for {
		select {
		case err := <-failed:
			return fmt.Errorf("kube-apiserver ended: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		if client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil {
			return nil
		}
	}
}

// serviceAccountKey writes a new key for tokens of service accounts, without which kube-apiserver does not start.
func serviceAccountKey(dir string) (file string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, "service-account.key")
	return file, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}
