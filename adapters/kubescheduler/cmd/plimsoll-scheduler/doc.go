// Command plimsoll-scheduler is kube-scheduler with the plugin of package kubescheduler compiled in. It takes
// kube-scheduler's flags; see config.yaml for a configuration that turns the plugin on.
package main
