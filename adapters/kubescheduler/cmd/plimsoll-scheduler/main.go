// Command plimsoll-scheduler is kube-scheduler with the plugin of package kubescheduler compiled in. It takes
// kube-scheduler's flags; see config.yaml for a configuration that turns the plugin on.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"github.com/plimsoll-go/plimsoll/adapters/kubescheduler"
)

func main() {
	plugin := kubescheduler.Factory(kubescheduler.Options{})
	os.Exit(cli.Run(app.NewSchedulerCommand(app.WithPlugin(kubescheduler.Name, plugin))))
}
