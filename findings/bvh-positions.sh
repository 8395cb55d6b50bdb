#!/bin/sh
# SPDX-License-Identifier: MIT
# A BVH file in which every joint has six channels, as some programs for motion capture write it.
#
# Guess: both readers play the same skeleton. The position channels of a joint repeat its OFFSET, so it is the pose
#   that the offsets alone describe.
# Seen: three.js adds the channels to the OFFSET, and Assimp puts them in its place. By three every bone is twice as
#   long as by Assimp, and the hip twice as high. Where only the root has position channels, and its OFFSET is 0,
#   the two agree.
# Versions: three 0.187.0; Debian 12, Assimp 5.2.5. Needs apt-get, dpkg, a C compiler, npm and Node.js.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room"
multiarch=$(gcc -print-multiarch)

for package in libassimp-dev=5.2.5~ds0-1+b1 libassimp5=5.2.5~ds0-1+b1 libdraco7=1.5.5+dfsg-2 \
    libminizip1=1.1-8+deb12u1; do
    apt-get -qq download "$package" 2>log || { cat log; exit 2; }
done
for file in *.deb; do dpkg -x "$file" root; done
npm install --prefix . --silent --no-audit --no-fund --ignore-scripts three@0.187.0

cat >walk.bvh <<'EOF'
HIERARCHY
ROOT hip
{
  OFFSET 0 10 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT knee
  {
    OFFSET 0 -4 0
    CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
    JOINT foot
    {
      OFFSET 0 -3 1
      CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
      End Site
      {
        OFFSET 0 0 2
      }
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.5
0 10 0 0 0 0  0 -4 0 0 0 0  0 -3 1 0 0 0
0 10 0 0 0 0  0 -4 0 0 0 0  0 -3 1 0 0 0
EOF
cat >play.mjs <<'EOF'
import { readFileSync } from 'node:fs';
import { AnimationMixer, Group, REVISION, Vector3 } from 'three';
import { BVHLoader } from 'three/addons/loaders/BVHLoader.js';

const { skeleton, clip } = new BVHLoader().parse(readFileSync('walk.bvh', 'utf8'));
const group = new Group().add(skeleton.bones[0]);
const mixer = new AnimationMixer(skeleton.bones[0]);
mixer.clipAction(clip).play();
mixer.update(0);
group.updateMatrixWorld(true);
console.log(`three ${REVISION}`);
for (const name of ['hip', 'knee', 'foot']) {
    const at = skeleton.getBoneByName(name).getWorldPosition(new Vector3());
    console.log(`  ${name} at ${at.toArray().join(' ')}`);
}
EOF
cat >play.c <<'EOF'
#include <assimp/cimport.h>
#include <assimp/scene.h>
#include <stdio.h>
#include <string.h>

// All rotations of the file are 0, so the world position is the sum of the first keys.
static void show(const struct aiScene *scene, const char *name)
{
    const struct aiAnimation *animation = scene->mAnimations[0];
    struct aiVector3D at = {0};

    for (const struct aiNode *node = scene->mRootNode; node != NULL;
         node = node->mNumChildren > 0 ? node->mChildren[0] : NULL) {
        for (unsigned i = 0; i < animation->mNumChannels; ++i) {
            const struct aiNodeAnim *channel = animation->mChannels[i];

            if (strcmp(channel->mNodeName.data, node->mName.data) == 0) {
                at.x += channel->mPositionKeys[0].mValue.x;
                at.y += channel->mPositionKeys[0].mValue.y;
                at.z += channel->mPositionKeys[0].mValue.z;
            }
        }
        if (strcmp(node->mName.data, name) == 0) {
            printf("  %s at %g %g %g\n", name, at.x, at.y, at.z);
            return;
        }
    }
}

int main(void)
{
    const struct aiScene *scene = aiImportFile("walk.bvh", 0);

    if (scene == NULL) {
        puts(aiGetErrorString());
        return 1;
    }
    show(scene, "hip");
    show(scene, "knee");
    show(scene, "foot");
    aiReleaseImport(scene);
    return 0;
}
EOF
libraries=$room/root/usr/lib/$multiarch
gcc -Iroot/usr/include play.c -o play -L"$libraries" -lassimp -Wl,-rpath-link,"$libraries"
{
    node play.mjs
    echo "Assimp $(dpkg-deb -f libassimp5_*.deb Version)"
    LD_LIBRARY_PATH=$libraries ./play
} | tee seen

cat >expected <<'EOF'
three 187
  hip at 0 20 0
  knee at 0 12 0
  foot at 0 6 2
Assimp 5.2.5~ds0-1+b1
  hip at 0 10 0
  knee at 0 6 0
  foot at 0 3 1
EOF
diff expected seen
