#!/bin/sh
# SPDX-License-Identifier: MIT
# A site of MuJoCo that is moved at run time, by its position in mjModel.
#
# Guess: mj_forward() reads site_pos, so each site moves by what was added to it.
# Seen: the site that stood exactly in the frame of its body when the model was compiled does not move, and
#   neither does such a geom; their neighbours, a millionth off, do. site_sameframe and geom_sameframe are set
#   then, and the kinematics copy the frame of the body without a look at site_pos. mj_setConst() leaves the
#   marks alone. The model that is saved now and loaded again has the site at the new place: it is another
#   model than the one in memory, with the same numbers.
#   To move such a site, clear its mark: site_sameframe[i] = 0.
# Versions: Debian 12, MuJoCo 2.2.2. Needs apt-get, dpkg and a C compiler.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room"
multiarch=$(gcc -print-multiarch)

for package in libmujoco-dev=2.2.2-3 libmujoco2.2.2=2.2.2-3 libccd2=2.1-2+b1 libqhull-r8.0=2020.2-5 \
    liblodepng0=0.0~git20220618.b4ed2cd-3 libtinyxml2-9=9.0.0+dfsg-3.1; do
    apt-get -qq download "$package" 2>log || { cat log; exit 2; }
done
for file in *.deb; do dpkg -x "$file" root; done

cat >model.xml <<'EOF'
<mujoco>
  <worldbody>
    <body name="arm" pos="0 0 1">
      <joint name="turn" type="hinge" axis="0 0 1"/>
      <geom name="geom, in the frame" size="0.1"/>
      <geom name="geom, beside it" size="0.1" pos="0 0 0.000001"/>
      <site name="site, in the frame"/>
      <site name="site, beside it" pos="0 0 0.000001"/>
    </body>
  </worldbody>
</mujoco>
EOF
cat >move.c <<'EOF'
#include <mujoco/mujoco.h>
#include <stdio.h>

static void show(const char *moment, mjModel *model)
{
    mjData *data = mj_makeData(model);

    mj_forward(model, data);
    printf("%s\n", moment);
    for (int i = 0; i < model->ngeom; ++i) {
        printf("  %-18s  local x %g  world x %g\n", mj_id2name(model, mjOBJ_GEOM, i), model->geom_pos[3 * i],
               data->geom_xpos[3 * i]);
    }
    for (int i = 0; i < model->nsite; ++i) {
        printf("  %-18s  local x %g  world x %g\n", mj_id2name(model, mjOBJ_SITE, i), model->site_pos[3 * i],
               data->site_xpos[3 * i]);
    }
    mj_deleteData(data);
}

int main(void)
{
    char error[300] = "";
    mjModel *model = mj_loadXML("model.xml", NULL, error, sizeof error);

    if (model == NULL) {
        puts(error);
        return 1;
    }
    printf("MuJoCo %s\n", mj_versionString());
    for (int i = 0; i < model->ngeom; ++i) {
        model->geom_pos[3 * i] = 2;
    }
    for (int i = 0; i < model->nsite; ++i) {
        model->site_pos[3 * i] = 2;
    }
    show("written", model);

    mjData *data = mj_makeData(model);
    mj_setConst(model, data);
    mj_deleteData(data);
    show("after mj_setConst()", model);

    mj_saveLastXML("saved.xml", model, error, sizeof error);
    mjModel *loaded = mj_loadXML("saved.xml", NULL, error, sizeof error);
    show("saved and loaded", loaded);
    mj_deleteModel(loaded);

    for (int i = 0; i < model->nsite; ++i) {
        model->site_sameframe[i] = 0;
    }
    show("marks of the sites cleared", model);
    mj_deleteModel(model);
    return 0;
}
EOF
gcc -Iroot/usr/include move.c -o move -Lroot/usr/lib/"$multiarch" -lmujoco \
    -Wl,-rpath-link,root/usr/lib/"$multiarch"
LD_LIBRARY_PATH=$room/root/usr/lib/$multiarch ./move | tee seen

cat >expected <<'EOF'
MuJoCo 2.2.2
written
  geom, in the frame  local x 2  world x 0
  geom, beside it     local x 2  world x 2
  site, in the frame  local x 2  world x 0
  site, beside it     local x 2  world x 2
after mj_setConst()
  geom, in the frame  local x 2  world x 0
  geom, beside it     local x 2  world x 2
  site, in the frame  local x 2  world x 0
  site, beside it     local x 2  world x 2
saved and loaded
  geom, in the frame  local x 2  world x 2
  geom, beside it     local x 2  world x 2
  site, in the frame  local x 2  world x 2
  site, beside it     local x 2  world x 2
marks of the sites cleared
  geom, in the frame  local x 2  world x 0
  geom, beside it     local x 2  world x 2
  site, in the frame  local x 2  world x 2
  site, beside it     local x 2  world x 2
EOF
diff expected seen
