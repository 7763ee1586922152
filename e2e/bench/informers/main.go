// Command informers is what a Go program would hold of a cluster: client-go's shared informers on the kinds that
// drawbridge follows, with their caches and nothing on top. The scale benchmark measures drawbridge against it.
//
//	informers -kubeconfig FILE [-keep-managed-fields] [-seconds N]
//
// A transform drops managedFields, as a sensible program does, unless told otherwise. Pods that have ended are not
// listed. It prints "ready" once all caches are filled, and ends at the end of standard input or after -seconds.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func dropManagedFields(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

func keep(object any) (any, error) { return object, nil }

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the cluster")
	keepManaged := flag.Bool("keep-managed-fields", false, "no transform")
	seconds := flag.Int("seconds", 300, "when to end")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	transform := cache.TransformFunc(dropManagedFields)
	if *keepManaged {
		transform = keep
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(*seconds)*time.Second)
	defer cancel()
	with := func(options ...informers.SharedInformerOption) informers.SharedInformerFactory {
		return informers.NewSharedInformerFactoryWithOptions(client, 0, append(options, informers.WithTransform(transform))...)
	}
	all := with()
	live := with(informers.WithTweakListOptions(func(options *metav1.ListOptions) {
		options.FieldSelector = "status.phase!=Succeeded,status.phase!=Failed"
	}))
	leases := with(informers.WithNamespace("kube-node-lease"))
	resource := all.Resource().V1()
	all.Core().V1().Nodes().Informer()
	all.Core().V1().Namespaces().Informer()
	resource.DeviceClasses().Informer()
	resource.ResourceSlices().Informer()
	resource.ResourceClaims().Informer()
	resource.ResourceClaimTemplates().Informer()
	resource.DeviceTaintRules().Informer()
	live.Core().V1().Pods().Informer()
	leases.Coordination().V1().Leases().Informer()
	for _, factory := range []informers.SharedInformerFactory{all, live, leases} {
		factory.Start(ctx.Done())
	}
	for _, factory := range []informers.SharedInformerFactory{all, live, leases} {
		for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
			if !synced {
				log.Fatalf("%v is not synced", kind)
			}
		}
	}
	fmt.Println("ready")
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}
