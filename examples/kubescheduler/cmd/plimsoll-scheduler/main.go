// Command plimsoll-scheduler is kube-scheduler with package steer compiled in. It takes
// kube-scheduler's flags; see config.yaml for a configuration that turns steering on.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"github.com/plimsoll-go/plimsoll/examples/kubescheduler/steer"
)

func main() {
	os.Exit(cli.Run(app.NewSchedulerCommand(app.WithPlugin(steer.Name, steer.FromFile))))
}
