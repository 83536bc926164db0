"""The real models that go through the whole pipeline, each with its data and its preprocessing."""

import dataclasses

import pipeline

ALL = ('f32', 'symmetric', 'asymmetric')


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    file: str                # below shared/models
    recipe: str              # configs/preprocess/RECIPE.yaml
    calibrate_on: str        # below shared/images, or 'fashion'
    evaluate_on: str         # a folder of real photographs that calibration has not seen
    samples: int = 40
    shape: tuple = ()        # --input-shape for symbolic dimensions
    modes: tuple = ALL
    cosine: float = 0.98     # least cosine of the integer outputs (before a last Softmax) with the float ones

    @property
    def preprocess(self):
        return pipeline.PREPROCESS / f'{self.recipe}.yaml'

    def model(self, shared):
        return shared / 'models' / self.file

    def calibration(self, shared):
        if self.calibrate_on == 'fashion':
            return pipeline.TRAIN_IMAGES
        return shared / 'images' / self.calibrate_on


def fashion(name, **options):
    return Case('fashion_' + name, f'fashion/{name}.onnx', 'fashion_mnist', 'fashion', 'fashion',
                500, **options)


SQUEEZENET = Case('squeezenet_1_1', 'squeezenet_1_1/squeezenet_1_1.onnx', 'squeezenet_1_1',
                  'calibration', 'imagenet_val', 100)
MOBILENET_V2 = Case('mobilenet_v2', 'mobilenet_v2/mobilenet_v2_float.onnx', 'mobilenet_v2',
                    'calibration', 'imagenet_val', 100)
RESNET_PRELU = fashion('resnet_prelu')
MOBILENET_LEAKY = fashion('mobilenet_leaky')
HOSTILE = fashion('mobilenet_hostile')  # hidden scales of channels: quantize/equalize
BEFORE_RESCALE = fashion('mobilenet_hostile_before_rescale')
VIT_TINY = fashion('vit_tiny')

CASES = (
    SQUEEZENET,
    Case('squeezenet_1_1_fp16', 'squeezenet_1_1/squeezenet_1_1_fp16.onnx', 'squeezenet_1_1',
         'calibration', 'imagenet_val'),
    MOBILENET_V2,
    Case('mobilenet_v1_025', 'mobilenet_v1_025/mobilenet_v1_025_float.onnx', 'mobilenet_v1_025',
         'calibration', 'imagenet_val', 100),
    Case('resnet8_cifar10', 'resnet8_cifar10/pretrainedResnet_float.onnx', 'resnet8_cifar10',
         'calibration', 'imagenet_val', 100),
    Case('vww96', 'vww96/vww_96_float_float.onnx', 'vww96', 'calibration', 'faces', 100),
    Case('ultraface_rfb320', 'ultraface_rfb320/version-RFB-320_simplified.onnx',
         'ultraface_rfb320', 'calibration', 'faces'),
    Case('blazeface', 'blazeface/blazeface.onnx', 'blazeface', 'calibration', 'faces', 100),
    Case('mnist_cntk', 'mnist_cntk/mnist.onnx', 'mnist', 'digits', 'digits', 10),
    Case('superres_x3', 'superres_x3/pytorch_super_resolution.onnx', 'superres_x3', 'calibration',
         'coco', 10, ('--input-shape', 'input:1x1x224x224')),
    RESNET_PRELU,
    MOBILENET_LEAKY,
    HOSTILE,
    BEFORE_RESCALE,
    VIT_TINY,
)
