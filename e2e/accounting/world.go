// SPDX-License-Identifier: Apache-2.0

// Package accounting compares drawbridge's ledger with what a real scheduler charged, by the scheduler's own library.
package accounting

import (
	"context"
	"fmt"
	"log"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"drawbridge.dev/e2e/simulator"
)

const (
	cpuDriver  = "cpu.example.com"  // two NUMA nodes; takes what is consumed of their capacity
	gpuDriver  = "gpu.example.com"  // fixed cpu and memory; in 1.37 memory for each Pod and container too
	hugeDriver = "huge.example.com" // fixed hugepages
	nicDriver  = "nic.example.com"  // takes nothing
	shmDriver  = "shm.example.com"  // 1.37: nothing but memory for each Pod and container, so claims may be shared
	numaName   = "resource.kubernetes.io/numaNode"
	work       = "work"
	admin      = "admin" // a namespace with admin access
)

var nodeResources = corev1.ResourceList{
	corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("192Gi"), corev1.ResourcePods: resource.MustParse("250"),
	corev1.ResourceEphemeralStorage: resource.MustParse("400Gi"), "hugepages-2Mi": resource.MustParse("4Gi"),
}

// Where this minor serves DeviceTaintRules.
var taintRulesPath = map[bool]string{true: "/apis/resource.k8s.io/v1beta2/devicetaintrules", false: "/apis/resource.k8s.io/v1/devicetaintrules"}[simulator.Minor < 37]

// world is the cluster: nodes, their kubelets and drivers.
type world struct {
	client  kubernetes.Interface
	kubelet map[string]*simulator.Kubelet
	drivers []*simulator.Driver
	devices map[*simulator.Driver][]resourceapi.Device
	split   map[*simulator.Driver]bool
	silent  map[string]*atomic.Bool // nodes whose Lease is not renewed
}

func connect(kubeconfig string) (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 400, 800
	return kubernetes.NewForConfig(config)
}

func newWorld(ctx context.Context, client kubernetes.Interface, nodes ...string) (*world, error) {
	w := &world{client: client, kubelet: map[string]*simulator.Kubelet{}, devices: map[*simulator.Driver][]resourceapi.Device{}, split: map[*simulator.Driver]bool{}, silent: map[string]*atomic.Bool{}}
	for _, node := range nodes {
		kubelet, err := simulator.StartKubelet(ctx, client, node, nodeResources)
		if err != nil {
			return nil, err
		}
		w.kubelet[node], w.silent[node] = kubelet, &atomic.Bool{}
		for name, devices := range devicesOfNode() {
			driver := simulator.NewDriver(client, kubelet, name)
			w.drivers, w.devices[driver] = append(w.drivers, driver), devices
			if err := driver.Start(ctx, 0, devices); err != nil {
				return nil, err
			}
		}
	}
	if err := w.createShared(ctx); err != nil {
		return nil, err
	}
	for _, kubelet := range w.kubelet {
		go keepRunning(ctx, kubelet, w.silent[kubelet.Node])
	}
	return w, nil
}

func keepRunning(ctx context.Context, kubelet *simulator.Kubelet, silent *atomic.Bool) {
	renewed := time.Now()
	for ctx.Err() == nil {
		err := kubelet.Sync(ctx)
		if time.Since(renewed) > 2*time.Second && err == nil && !silent.Load() {
			renewed = time.Now()
			err = kubelet.Renew(ctx, renewed)
		}
		if err != nil && ctx.Err() == nil {
			log.Printf("kubelet %s: %v", kubelet.Node, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// createShared makes classes, namespaces and a runtime class with overhead.
func (w *world) createShared(ctx context.Context) error {
	for _, driver := range []string{cpuDriver, gpuDriver, hugeDriver, nicDriver, shmDriver} {
		class := &resourceapi.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: driver}}
		class.Spec.Selectors = []resourceapi.DeviceSelector{{CEL: &resourceapi.CELDeviceSelector{Expression: fmt.Sprintf("device.driver == %q", driver)}}}
		if _, err := w.client.ResourceV1().DeviceClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for _, name := range []string{work, admin} {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"drawbridge.dev/canary": "true"}}}
		if name == admin {
			namespace.Labels["resource.kubernetes.io/admin-access"] = "true"
		}
		if _, err := w.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	overhead := &nodev1.Overhead{PodFixed: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("75m"), corev1.ResourceMemory: resource.MustParse("40Mi")}}
	_, err := w.client.NodeV1().RuntimeClasses().Create(ctx, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "sandbox"}, Handler: "sandbox", Overhead: overhead}, metav1.CreateOptions{})
	return err
}

func devicesOfNode() map[string][]resourceapi.Device {
	type footprints = map[corev1.ResourceName]simulator.Footprint
	out := map[string][]resourceapi.Device{}
	for i := range int64(2) {
		device := numaDevice(fmt.Sprintf("numa-%d", i), i)
		shared := true
		device.AllowMultipleAllocations = &shared
		device.Capacity = map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{"cpu": capacity("24", "1"), "memory": capacity("64Gi", "1Gi")}
		simulator.SetFootprints(&device, footprints{"cpu": {CapacityKey: "cpu"}, "memory": {CapacityKey: "memory"}})
		out[cpuDriver] = append(out[cpuDriver], device)
	}
	for i := range int64(10) {
		gpu := numaDevice(fmt.Sprintf("gpu-%d", i), i%2)
		simulator.SetFootprints(&gpu, footprints{"cpu": {Fixed: "500m"}, "memory": {Fixed: "1Gi", PerPod: "64Mi", PerContainer: "16Mi"}})
		out[gpuDriver] = append(out[gpuDriver], gpu)
		out[nicDriver] = append(out[nicDriver], resourceapi.Device{Name: fmt.Sprintf("nic-%d", i)})
		huge := resourceapi.Device{Name: fmt.Sprintf("huge-%d", i)}
		simulator.SetFootprints(&huge, footprints{"hugepages-2Mi": {Fixed: "64Mi"}, "memory": {Fixed: "128Mi"}, "cpu": {Fixed: "1500m"}})
		out[hugeDriver] = append(out[hugeDriver], huge)
		if simulator.Minor >= 37 {
			shm := resourceapi.Device{Name: fmt.Sprintf("shm-%d", i)}
			simulator.SetFootprints(&shm, footprints{"memory": {PerPod: "32Mi", PerContainer: "8Mi"}})
			out[shmDriver] = append(out[shmDriver], shm)
		}
	}
	return out
}

func numaDevice(name string, numa int64) resourceapi.Device {
	return resourceapi.Device{Name: name, Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{numaName: {IntValue: &numa}}}
}

// capacity may be consumed in whole steps.
func capacity(value, step string) resourceapi.DeviceCapacity {
	one := resource.MustParse(step)
	return resourceapi.DeviceCapacity{Value: resource.MustParse(value), RequestPolicy: &resourceapi.CapacityRequestPolicy{
		Default: &one, ValidRange: &resourceapi.CapacityRequestPolicyRange{Min: &one, Step: &one},
	}}
}

func (w *world) stop() {
	for _, driver := range w.drivers {
		driver.Crash()
	}
}
