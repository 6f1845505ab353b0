package oracle_test

import (
	"fmt"
	"os"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/oracle"
)

func TestMain(m *testing.M) {
	if err := oracle.EnableFeatures(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

type daemonSet = appsv1.DaemonSet
